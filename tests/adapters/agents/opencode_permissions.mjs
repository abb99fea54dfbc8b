// What cockpit's plugin makes of opencode's settings: opencode_permissions.mjs PLUGIN_PART MODE OFFERED
// Reads the settings from standard input and prints them. MODE or OFFERED can be null.
import { readFileSync } from "node:fs"
const [, , part, mode, offered] = process.argv
const { enforce, keepServer } = await import(part)
const config = JSON.parse(readFileSync(0, "utf8"))
const tools = JSON.parse(offered) ? keepServer(config, JSON.parse(offered)) : []
if (JSON.parse(mode)) enforce(config, { ...JSON.parse(mode), tools })
console.log(JSON.stringify(config))
