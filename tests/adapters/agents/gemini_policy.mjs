// What Gemini's own policy engine decides: gemini_policy.mjs BUNDLE POLICY DIRECTORY
// Reads a list of {mode, name, args} from standard input and prints a list of decisions.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
const [bundle, policy, directory] = process.argv.slice(2);
const core = readdirSync(bundle).find((name) => /^core-.*\.js$/.test(name));
const { PolicyEngine, createPolicyEngineConfig } = await import(join(bundle, core));
process.chdir(directory);
const decisions = [];
for (const { mode, name, args } of JSON.parse(readFileSync(0, 'utf8'))) {
  const config = await createPolicyEngineConfig({ policyPaths: [policy] }, mode, join(bundle, 'policies'));
  const { decision } = await new PolicyEngine({ ...config, approvalMode: mode }).check({ name, args }, undefined);
  decisions.push(decision);
}
console.log(JSON.stringify(decisions));
