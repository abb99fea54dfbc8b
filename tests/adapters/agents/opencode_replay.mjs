// Feeds recorded events and hook calls of opencode to cockpit's plugin.
//
//   node opencode_replay.mjs PLUGIN RECORDING DIRECTORY
//
// The client's calls are printed, one JSON array per line.

import { readFileSync } from "node:fs"

const [, , plugin, recording, directory] = process.argv
const note = (...call) => console.log(JSON.stringify(call))
const client = {
  session: {
    messages: async () => ({ data: [] }),
    promptAsync: async (request) => note("prompt", request.path.id, request.body.parts[0].text),
  },
  postSessionIdPermissionsPermissionId: async (request) =>
    note("permission", request.path.permissionID, request.body.response),
}
const { CockpitReports } = await import(plugin)
const hooks = await CockpitReports({ client, directory })
for (const line of readFileSync(recording, "utf8").split("\n").filter(Boolean)) {
  const { event, hook, input, output } = JSON.parse(line)
  if (event) await hooks.event({ event })
  else if (hooks[hook]) {
    await hooks[hook](input, output)
    if (hook === "tool.execute.after") note("result", output.output)
    if (hook === "chat.message") note("said", output.parts[0].text)
  }
}
