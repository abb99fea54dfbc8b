// What cockpit's plugin makes of opencode's settings: opencode_permissions.mjs PLUGIN_PART MODE
// Reads the settings from standard input and prints them.
import { readFileSync } from "node:fs"
const [, , part, mode] = process.argv
const { enforce } = await import(part)
const config = JSON.parse(readFileSync(0, "utf8"))
enforce(config, JSON.parse(mode))
console.log(JSON.stringify(config))
