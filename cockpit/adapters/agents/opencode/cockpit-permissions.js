// Makes the permissions of every agent of opencode those of cockpit's permission mode, or narrower.
//
// A repository's own settings (opencode.json, .opencode/agent/*.md) count more in opencode than
// OPENCODE_PERMISSION, and can add agents and tools. opencode gives plugins its merged settings
// before it reads them, so this has the last word. It cannot tell the user's settings from the
// repository's. So they only narrow: what they allow is asked about unless the mode allows it too.

// What opencode asks about by name; everything else, such as a tool of an MCP server, is another.
const NAMES = [
  "read", "glob", "grep", "list", "lsp", "todowrite", "todoread", "question", "skill", "task",
  "edit", "bash", "webfetch", "websearch", "codesearch", "external_directory", "doom_loop",
  "plan_enter", "plan_exit", "workflow_tool_approval",
]
// opencode refuses patterns for these: it does not start.
const WITHOUT_PATTERNS = ["todowrite", "question", "webfetch", "websearch", "doom_loop"]
const NATIVE = ["build", "plan", "general", "explore"]
const WITHOUT_TOOLS = ["compaction", "title", "summary"]
const READS = ["read", "glob", "grep", "list", "todowrite", "todoread", "question", "skill"]
const HARMLESS = Object.fromEntries(READS.map((name) => [name, [["*", "allow"]]]))
HARMLESS.read = [["*", "allow"], ["*.env", "ask"], ["*.env.*", "ask"], ["*.env.example", "allow"]]
const PLANS = [["*", "deny"], [".opencode/plans/*.md", "allow"]]
const STRICTNESS = ["deny", "ask", "allow"]

// Make cockpit's tool server the one of its name, and return those of its tools that may be called
// without asking. opencode merges a repository's settings into a server's of the same name, and
// names a tool after its server: the tool `request` of a server `cockpit_handoff` would pass for
// ours.
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

// `mode.edit` says what the mode does about edits. cockpit's own tools, `mode.tools`, are allowed.
// Commands and all else is asked about.
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

// What the mode allows an agent: patterns by name, and what counts for all other names.
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

// The settings' rules as [name, pattern, action], in their order: the last one that matches counts.
function rulesIn(permission) {
  const found = []
  const named = typeof permission === "string" ? { "*": permission } : (permission ?? {})
  for (const [name, given] of Object.entries(named)) {
    const patterns = typeof given === "string" ? { "*": given } : (given ?? {})
    for (const [pattern, action] of Object.entries(patterns)) {
      found.push([name, pattern, STRICTNESS.includes(action) ? action : "ask"])
    }
  }
  return found
}

// In an object, the first place of a name is its place, so every name is written once: first the
// rule for all, then other names, then every name of opencode's own and of cockpit's tools with
// all of its patterns.
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

// The mode's patterns, then the settings' ones as far as they are narrower.
function patternsOf(own, given) {
  const result = Object.fromEntries(own)
  const mixed = own.length > 1
  let most = own[0][1]
  if (mixed && most === "deny") return result
  for (const [, pattern, action] of given) {
    if (mixed && action !== "allow") most = "ask" // what is allowed after this is asked about
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

// As opencode matches a name with a rule's name.
function matches(name, rule) {
  const escaped = rule.replaceAll("\\", "/").replace(/[.+^${}()|[\]\\]/g, "\\$&")
  let expression = escaped.replaceAll("*", ".*").replaceAll("?", ".")
  if (expression.endsWith(" .*")) expression = `${expression.slice(0, -3)}( .*)?`
  return new RegExp(`^${expression}$`, "s").test(name)
}
