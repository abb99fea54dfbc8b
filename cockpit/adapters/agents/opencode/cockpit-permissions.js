// Sets the permissions of all of opencode's agents to cockpit's permission mode, or narrower.
//
// In opencode, a repository's own settings (opencode.json, .opencode/agent/*.md) override
// OPENCODE_PERMISSION, and can add agents and tools. Plugins can change the merged settings before
// opencode uses them, so the plugin decides last. The plugin cannot distinguish the user's settings
// from the repository's. So settings can only narrow the mode: opencode asks about an action that
// the settings allow and the mode does not.

// The names of opencode's own permissions. Other names are tools, such as those of an MCP server.
const NAMES = [
  "read", "glob", "grep", "list", "lsp", "todowrite", "todoread", "question", "skill", "task",
  "edit", "bash", "webfetch", "websearch", "codesearch", "external_directory", "doom_loop",
  "plan_enter", "plan_exit", "workflow_tool_approval",
]
// Permissions without patterns. If one of them has a pattern, opencode does not start.
const WITHOUT_PATTERNS = ["todowrite", "question", "webfetch", "websearch", "doom_loop"]
const NATIVE = ["build", "plan", "general", "explore"]
const WITHOUT_TOOLS = ["compaction", "title", "summary"]
const READS = ["read", "glob", "grep", "list", "todowrite", "todoread", "question", "skill"]
const HARMLESS = Object.fromEntries(READS.map((name) => [name, [["*", "allow"]]]))
HARMLESS.read = [["*", "allow"], ["*.env", "ask"], ["*.env.*", "ask"], ["*.env.example", "allow"]]
const PLANS = [["*", "deny"], [".opencode/plans/*.md", "allow"]]
const STRICTNESS = ["deny", "ask", "allow"]

// Replace the settings of cockpit's tool server, because opencode merges a repository's settings for
// a server of the same name into cockpit's. Return the server's tools that opencode may call without
// asking. opencode asks about a tool whose name another server could use, because opencode names a
// tool after its server: the tool `request` of a repository's server `cockpit_handoff` would get the
// name of one of cockpit's tools.
export function keepServer(config, { name, server, tools }) {
  config.mcp = { ...config.mcp, [name]: server }
  const others = Object.keys(config.mcp).filter((other) => other !== name)
  const doubtful = (tool) => others.some((other) => tool.startsWith(`${other.replace(/[^\w-]/g, "_")}_`))
  const asked = tools.filter(doubtful)
  if (asked.length) {
    const given = typeof config.permission === "string" ? { "*": config.permission } : config.permission
    config.permission = { ...given, ...Object.fromEntries(asked.map((tool) => [tool, "ask"])) }
  }
  return tools.filter((tool) => !doubtful(tool))
}

// Set the permissions of all agents in `config`. `mode.edit` is the mode's action for edits.
// Most agents may read, start subagents and call cockpit's own tools, `mode.tools`. opencode asks
// about commands and everything else.
export function enforce(config, mode) {
  const agents = { ...config.agent }
  for (const name of [...NATIVE, ...WITHOUT_TOOLS]) agents[name] ??= {}
  for (const [name, agent] of Object.entries(agents)) {
    const given = [...rulesIn(config.permission), ...rulesIn(agent?.permission)]
    agents[name] = { ...agent, permission: narrowed(base(name, mode), given) }
  }
  config.agent = agents
  config.permission = narrowed(base("", mode), rulesIn(config.permission))
}

// Return the mode's rules for an agent: patterns by name, and the action for all other names.
function base(agent, mode) {
  if (WITHOUT_TOOLS.includes(agent)) return { others: "deny", rules: {} }
  const { read, glob, grep, list } = HARMLESS
  const [allow, ask, deny] = ["allow", "ask", "deny"].map((action) => [["*", action]])
  if (agent === "explore") {
    const asked = { bash: ask, webfetch: ask, websearch: ask, external_directory: ask }
    return { others: "deny", rules: { read, glob, grep, list, ...asked } }
  }
  const rules = { ...HARMLESS, task: allow, plan_enter: deny, plan_exit: deny }
  for (const tool of mode.tools ?? []) rules[tool] = allow
  if (mode.edit === "allow") rules.edit = allow
  if (mode.edit === "deny" || agent === "plan") rules.edit = PLANS
  if (agent === "build") rules.plan_enter = ask
  if (agent === "plan") Object.assign(rules, { plan_exit: ask, task: [["*", "allow"], ["general", "deny"]] })
  if (agent === "general") Object.assign(rules, { question: deny, todowrite: deny })
  return { others: "ask", rules }
}

// Return the settings' rules as [name, pattern, action]. The last rule that matches applies.
function rulesIn(permission) {
  const rules = []
  const named = typeof permission === "string" ? { "*": permission } : (permission ?? {})
  for (const [name, given] of Object.entries(named)) {
    const patterns = typeof given === "string" ? { "*": given } : (given ?? {})
    for (const [pattern, action] of Object.entries(patterns)) {
      rules.push([name, pattern, STRICTNESS.includes(action) ? action : "ask"])
    }
  }
  return rules
}

// Return the mode's rules, narrowed by the settings' rules. An object keeps the first position of a
// name, so every name is written once, with all of its patterns: first the rule for all names, then
// other names, then opencode's own names and cockpit's tools.
function narrowed({ others, rules }, given) {
  const names = new Set([...NAMES, ...Object.keys(rules)])
  const result = { "*": patternsOf([["*", others]], given.filter(([name]) => name === "*")) }
  for (const [name] of given) {
    if (name === "*" || names.has(name)) continue
    delete result[name]
    result[name] = patternsOf([["*", others]], given.filter(([other]) => matches(name, other) || name === other))
  }
  for (const name of names) {
    const patterns = patternsOf(rules[name] ?? [["*", others]], given.filter(([other]) => matches(name, other)))
    result[name] = WITHOUT_PATTERNS.includes(name) ? oneAction(patterns) : patterns
  }
  return result
}

// Return the mode's patterns, then those patterns of the settings that are narrower.
function patternsOf(own, given) {
  const result = Object.fromEntries(own)
  const mixed = own.length > 1
  let most = own[0][1]
  if (mixed && most === "deny") return result
  for (const [, pattern, action] of given) {
    if (mixed && action !== "allow") most = "ask" // so that a later "allow" becomes "ask"
    if (mixed && most === "allow") continue
    delete result[pattern]
    result[pattern] = STRICTNESS[Math.min(STRICTNESS.indexOf(action), STRICTNESS.indexOf(most))]
  }
  return result
}

function oneAction(patterns) {
  const asks = Object.values(patterns).some((action) => action !== "allow")
  return patterns["*"] === "allow" && asks ? "ask" : patterns["*"]
}

// Return whether a rule's name, which can have wildcards, matches a name in opencode.
function matches(name, rule) {
  const escaped = rule.replaceAll("\\", "/").replace(/[.+^${}()|[\]\\]/g, "\\$&")
  let expression = escaped.replaceAll("*", ".*").replaceAll("?", ".")
  if (expression.endsWith(" .*")) expression = `${expression.slice(0, -3)}( .*)?`
  return new RegExp(`^${expression}$`, "s").test(name)
}
