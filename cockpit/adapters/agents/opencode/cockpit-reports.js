// A plugin for opencode that reports one opencode process to cockpit:
//
// - It appends one line per event to a transcript, RECORDS/SESSION.jsonl. opencode itself stores
//   its sessions in a database.
// - It runs cockpit's reporter for hooks, with the names and fields of Claude Code's hooks, and
//   passes the reporter's answers to the model.
// - It sets opencode's permissions to cockpit's permission mode.
//
// The plugin's settings are in COCKPIT_OPENCODE, as JSON; without this variable, the plugin does
// nothing. The plugin never throws into opencode, so an agent works even if cockpit's files are
// missing. But if the plugin cannot apply a permission mode, it ends opencode.

import { spawn } from "node:child_process"
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { resolve } from "node:path"
import { enforce, keepServer } from "./cockpit-permissions.js"

const PATIENCE = 12_000 // Milliseconds; the reporter delays a compaction by at most 8 s.
const OUTPUT_KEPT = 2_000
const TAIL_KEPT = 1_000 // The end of a longer output, which contains the line with the result.
const TEXT_KEPT = 20_000
const FAR_AWAY = 60_000 // Milliseconds; a later retry is reported as a usage limit.
const TOOLS = {
  bash: "Bash", edit: "Edit", glob: "Glob", grep: "Grep", question: "AskUserQuestion",
  read: "Read", task: "Task", todowrite: "TodoWrite", webfetch: "WebFetch", write: "Write",
}
const FIELDS = { filePath: "file_path", newString: "new_string", oldString: "old_string" }

const order = given()
const children = new Map() // subagents' sessions: id -> kind
const authors = new Map() // message id -> role
const calls = new Map() // call id -> the tool's name and input
const told = new Map() // the last recorded values, by kind and id
const added = new Map() // call id -> text added to the result
const waiting = new Map() // session id -> lines that wait for the session's history
let main = order?.session ?? ""
let anySession = Boolean(main)
let directory = ""
let working = false
let broken = false
let lastWords = ""
let asked = "" // the request that this plugin sent as a prompt
let owed = "" // context that was not added to a tool result yet
let compaction = {}
let reports = Promise.resolve("")

function given() {
  try {
    return JSON.parse(process.env.COCKPIT_OPENCODE)
  } catch {
    return null
  }
}

function quietly(work) {
  return async (...given) => {
    try {
      await work(...given)
    } catch {
      // cockpit gets fewer reports; the agent continues
    }
  }
}

// The transcript

function recordOf(session) {
  return `${order.records}/${session}.jsonl`
}

function write(session, line) {
  const text = JSON.stringify(line) + "\n"
  if (waiting.has(session)) waiting.get(session).push(text)
  else append(session, text)
}

function append(session, text) {
  try {
    appendFileSync(recordOf(session), text, { mode: 0o600 })
  } catch {
    // a full disk must not stop the agent
  }
}

function record(type, fields, at) {
  write(main, { type, at: at ?? Date.now(), ...fields })
}

function once(key, value) {
  const text = JSON.stringify(value)
  if (told.get(key) === text) return false
  told.set(key, text)
  return true
}

function recordMessage(info, sidechain) {
  authors.set(info.id, info.role)
  const tokens = info.tokens
  if (info.role !== "assistant" || !tokens) return
  const count = {
    input: tokens.input, output: tokens.output, reasoning: tokens.reasoning,
    cache_read: tokens.cache?.read, cache_write: tokens.cache?.write,
  }
  if (!Object.values(count).some((value) => value > 0)) return
  const model = `${info.providerID}/${info.modelID}`
  const side = sidechain || info.summary === true
  const line = { id: info.id, model, tokens: count, cost: info.cost, finish: info.finish, side }
  if (once(`reply ${info.id}`, line)) record("reply", line, info.time?.completed)
}

function recordPart(part) {
  if (part.type === "text") recordText(part)
  else if (part.type === "tool") recordTool(part)
  else if (part.type === "compaction") compaction = { ...compaction, automatic: part.auto }
}

function recordText(part) {
  if (authors.get(part.messageID) === "user") {
    if (!once(`text ${part.id}`, part.text)) return
    if (asked && part.text === asked) record("injected", { event: "Stop", text: part.text })
    else record("prompt", { text: part.text, meta: part.synthetic === true })
  } else if (part.time?.end && part.text && once(`text ${part.id}`, part.text)) {
    lastWords = part.text
    record("said", { id: part.messageID, text: cut(part.text, TEXT_KEPT) }, part.time.end)
  }
}

function recordTool(part) {
  const state = part.state
  if (!["completed", "error"].includes(state.status)) return
  if (!once(`tool ${part.callID}`, state.status)) return
  const failed = state.status === "error" || (state.metadata?.exit ?? 0) !== 0
  const output = String((failed && state.error) || state.output || "")
  const result = { failed, output: cut(output, OUTPUT_KEPT) }
  if (output.length > OUTPUT_KEPT) result.tail = output.slice(Math.max(OUTPUT_KEPT, output.length - TAIL_KEPT))
  if (Number.isInteger(state.metadata?.exit)) result.exit = state.metadata.exit
  for (const [place, [name, input]] of toolsOf(part.tool, state.input ?? {}).entries()) {
    const id = place ? `${part.callID}:${place}` : part.callID
    record("tool", { id, name, input, ...result }, state.time?.end)
  }
  const text = added.get(part.callID)
  added.delete(part.callID)
  calls.delete(part.callID)
  if (text && String(state.output).includes(text)) record("injected", { event: "PostToolUse", text })
}

// Return a call as [name, input] pairs, with Claude Code's names. A patch becomes one edit per file.
function toolsOf(tool, input) {
  const patch = input.patchText
  if (tool === "apply_patch" && typeof patch === "string") {
    const files = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
    if (files.length) return files.map((file) => ["Edit", { file_path: absolute(file[1]) }])
  }
  return [[TOOLS[tool] ?? tool, inputOf(input)]]
}

function inputOf(input) {
  const fields = Object.entries(input).map(([name, value]) => {
    const key = FIELDS[name] ?? name
    if (key === "file_path" && typeof value === "string") return [key, absolute(value)]
    return [key, typeof value === "string" ? cut(value, 8_000) : value]
  })
  fields.sort(([one], [other]) => Number(other === "file_path") - Number(one === "file_path"))
  return Object.fromEntries(fields)
}

function absolute(path) {
  return resolve(directory || "/", path)
}

function cut(text, limit) {
  return text.length > limit ? text.slice(0, limit) : text
}

// The reporter

// Run the reporter, and return its answer. Only one reporter runs at a time, so that reports arrive in
// order.
function report(event, fields = {}, agent = "") {
  const payload = {
    session_id: main, transcript_path: recordOf(main), cwd: directory,
    ...(agent ? { agent_id: agent } : {}), hook_event_name: event, ...fields,
  }
  reports = reports.then(() => run(event, JSON.stringify(payload))).catch(() => "")
  return reports
}

function run(event, payload) {
  return new Promise((done) => {
    const reporter = spawn(order.reporter, [order.state, order.agent, event], {
      stdio: ["pipe", "pipe", "ignore"],
    })
    let answer = ""
    const giveUp = setTimeout(() => reporter.kill("SIGKILL"), PATIENCE)
    const finish = () => {
      clearTimeout(giveUp)
      done(answer)
    }
    reporter.on("error", finish)
    reporter.on("close", finish)
    reporter.stdout.on("data", (piece) => (answer += piece))
    reporter.stdin.on("error", () => {})
    reporter.stdin.end(payload)
  })
}

function parsed(answer) {
  try {
    return JSON.parse(answer)
  } catch {
    return {}
  }
}

function contextIn(answer) {
  const text = parsed(answer).hookSpecificOutput?.additionalContext
  return typeof text === "string" ? text : ""
}

// Sessions

async function begin(session, source, client) {
  main = session
  anySession = true
  const known = existsSync(recordOf(session))
  if (!known) {
    const head = { record: "cockpit/opencode", version: 1, session, directory, at: Date.now() }
    append(session, JSON.stringify(head) + "\n")
    if (source === "resume") await copyHistory(session, client)
  }
  await report("SessionStart", { source })
}

// opencode drops the first prompt of a reopened session, so the plugin sends it.
async function reopen(client) {
  await begin(order.session, "resume", client)
  if (!order.prompt) return
  const text = readFileSync(order.prompt, "utf8")
  await client.session.promptAsync({
    path: { id: order.session }, body: { parts: [{ type: "text", text }] },
  })
}

// Write the history of a session that cockpit did not start: the session has no transcript yet.
async function copyHistory(session, client) {
  const later = []
  waiting.set(session, later)
  try {
    const { data } = await client.session.messages({ path: { id: session } })
    waiting.delete(session)
    for (const message of data ?? []) {
      recordMessage(message.info, false)
      message.parts.forEach(recordPart)
    }
  } finally {
    waiting.delete(session)
    later.forEach((text) => append(session, text))
  }
}

async function turnEnded(client) {
  if (!working) return
  working = false
  record("turn", { working: false })
  if (broken) return
  const active = Boolean(asked)
  asked = ""
  const fields = { stop_hook_active: active, last_assistant_message: cut(lastWords, TEXT_KEPT) }
  const answer = parsed(await report("Stop", fields))
  if (answer.decision !== "block" || typeof answer.reason !== "string") return
  asked = answer.reason
  await client.session.promptAsync({
    path: { id: main }, body: { parts: [{ type: "text", text: answer.reason }] },
  })
}

function failed(error) {
  broken = true
  if (error?.name === "MessageAbortedError") return record("interrupted", {})
  const message = String(error?.data?.message ?? error?.name ?? "unknown error")
  const status = error?.data?.statusCode
  record("failed", { message: cut(message, OUTPUT_KEPT), status })
}

function statusOf(status) {
  if (status.type === "retry" && status.next - Date.now() > FAR_AWAY) {
    working = false
    const resets = status.next / 1000
    record("failed", { message: cut(String(status.message), OUTPUT_KEPT), status: 429, resets })
  } else if (status.type === "busy" && !working) {
    working = true
    broken = false
    record("turn", { working: true })
  }
}

async function permission(request, client) {
  const call = calls.get(request.tool?.callID)
  const about = request.metadata ?? {}
  let name, input
  const edits = ["edit", "write"].includes(call?.tool)
  if (request.permission === "edit" || (edits && request.permission === "external_directory")) {
    const path = typeof about.filepath === "string" ? about.filepath : (request.patterns ?? [""])[0]
    ;[name, input] = [call?.tool === "edit" ? "Edit" : "Write", { file_path: absolute(path) }]
  } else if (call) {
    ;[name, input] = toolsOf(call.tool, call.input)[0]
  } else {
    ;[name, input] = [TOOLS[request.permission] ?? request.permission, about]
  }
  const subagent = request.sessionID === main ? "" : request.sessionID
  const answer = parsed(await report("PermissionRequest", { tool_name: name, tool_input: input }, subagent))
  if (answer.hookSpecificOutput?.decision?.behavior !== "allow") return
  await client.postSessionIdPermissionsPermissionId({
    path: { id: request.sessionID, permissionID: request.id }, body: { response: "once" },
  })
}

async function ofMain(event, about, client) {
  switch (event.type) {
    case "message.updated":
      return recordMessage(about.info, false)
    case "message.part.updated":
      return recordPart(about.part)
    case "session.status":
      return statusOf(about.status)
    case "session.error":
      return failed(about.error)
    case "session.idle":
      return turnEnded(client)
    case "session.updated":
      if (about.info?.cost > 0 && once(`cost ${main}`, about.info.cost)) record("cost", { usd: about.info.cost })
      return
    case "session.compacted": {
      const trigger = compaction.automatic === false ? "manual" : "auto"
      record("compacted", { trigger })
      await report("PostCompact", { trigger })
      owed = contextIn(await report("SessionStart", { source: "compact" })) || owed
      return
    }
    case "permission.asked":
      return permission(about, client)
    case "question.asked": {
      const questions = (about.questions ?? []).map((item) => ({ question: String(item.question) }))
      await report("PermissionRequest", { tool_name: "AskUserQuestion", tool_input: { questions } })
      return
    }
    case "permission.replied":
    case "question.replied":
    case "question.rejected":
      if (working) record("turn", { working: true })
  }
}

async function ofSubagent(event, about, client) {
  if (event.type === "message.updated") recordMessage(about.info, true)
  else if (event.type === "permission.asked") await permission(about, client)
  else if (event.type === "permission.replied" && working) record("turn", { working: true })
  else if (event.type === "session.idle" && children.has(about.sessionID)) {
    await report("SubagentStop", { agent_type: children.get(about.sessionID) }, about.sessionID)
  }
}

async function heard(event, client) {
  const about = event.properties ?? {}
  if (event.type === "session.created") {
    const { id, parentID, agent } = about.info
    if (!parentID) return begin(id, anySession ? "clear" : "startup", client)
    children.set(id, agent ?? "subagent")
    await report("SubagentStart", { agent_type: children.get(id) }, id)
    return
  }
  const session = about.sessionID ?? about.info?.sessionID ?? about.info?.id
  if (session === main) await ofMain(event, about, client)
  else if (children.has(session)) await ofSubagent(event, about, client)
  else if (event.type === "session.error" && !session && main) failed(about.error)
}

// Text for the model

async function prompted(session, parts, client) {
  if (children.has(session)) return
  if (session !== main) await begin(session, "resume", client)
  const text = parts.find((part) => part.type === "text" && !part.synthetic)
  if (!text) return
  // The argument is only the path of a file with the first prompt: other users can read arguments.
  if (order.prompt && text.text === order.named) text.text = readFileSync(order.prompt, "utf8")
  if (asked && text.text === asked) return
  const context = contextIn(await report("UserPromptSubmit", { prompt: text.text })) || owed
  owed = ""
  if (!context) return
  text.text = `${text.text}\n\n${reminder(context)}`
  record("injected", { event: "UserPromptSubmit", text: context })
}

async function toolEnded(input, output) {
  // An interrupted command ends after its turn; a report would mean that the turn continues.
  if (input.sessionID !== main || !output || !working) return
  const [name, given] = toolsOf(input.tool, input.args ?? {})[0]
  const fields = { tool_name: name, tool_input: given, tool_use_id: input.callID }
  const text = contextIn(await report("PostToolUse", fields)) || owed
  owed = ""
  if (!text) return
  if (typeof output.output === "string") output.output += `\n\n${reminder(text)}`
  else if (Array.isArray(output.content)) output.content.push({ type: "text", text: reminder(text) })
  else owed = text
  if (!owed) added.set(input.callID, text)
}

function reminder(text) {
  return `<system-reminder>\n${text}\n</system-reminder>`
}

function modelChosen(input) {
  if (input.sessionID !== main || ["title", "summary", "compaction"].includes(agentOf(input))) return
  const { limit, id, providerID } = input.model
  const wanted = Number(process.env.OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX)
  const room = Number.isInteger(wanted) && wanted > 0 ? wanted : 32_000
  const output = Math.min(limit.output, room) || room
  const reserved = compaction.reserved ?? Math.min(20_000, output)
  const point = limit.input ? limit.input - reserved : limit.context - output
  const line = {
    model: `${providerID}/${id}`,
    window: limit.input || limit.context,
    compacts_at: compaction.auto === false ? null : Math.max(0, point),
  }
  if (once(`window ${main}`, line)) record("window", line)
}

function enforceOrEnd(config) {
  try {
    const tools = order.offered ? keepServer(config, order.offered) : []
    if (order.mode) enforce(config, { ...order.mode, tools })
  } catch (error) {
    console.error(`cockpit: cannot apply the permission mode: ${error}`)
    process.exit(1)
  }
}

function agentOf(input) {
  return typeof input.agent === "string" ? input.agent : (input.agent?.name ?? "")
}

// opencode calls this function once per instance, and again when it reloads its configuration.
export const CockpitReports = async ({ client, directory: here }) => {
  if (!order) return {}
  const first = !directory
  directory = here
  if (first && order.session) quietly(reopen)(client)
  return {
    event: quietly(({ event }) => heard(event, client)),
    config: (config) => {
      compaction = { ...compaction, ...config.compaction }
      enforceOrEnd(config)
    },
    "chat.message": quietly((input, output) => prompted(input.sessionID, output.parts, client)),
    "chat.params": quietly(modelChosen),
    "tool.execute.before": quietly((input, output) => {
      calls.set(input.callID, { tool: input.tool, input: output.args ?? {} })
    }),
    "tool.execute.after": quietly(toolEnded),
    "experimental.session.compacting": quietly(async (input) => {
      if (input.sessionID === main) await report("PreCompact", { trigger: "auto" })
    }),
    // An agent's commands must not report as this agent or get its permissions.
    "shell.env": quietly((_, output) => {
      Object.assign(output.env, { COCKPIT_OPENCODE: "", ...order.restored })
    }),
  }
}
