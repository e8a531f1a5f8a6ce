// A client of "obelus mcp" by the protocol's SDK for TypeScript: it lists, calls, reads,
// and cancels. What is to be done comes on standard input; argv names the folder with the SDK.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.argv[2], "x.js"));
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/" + name)));
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const job = JSON.parse(readFileSync(0, "utf8"));

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: job.command, args: job.args, env: { ...process.env, [job.env]: "1" } }));
const { tools } = await client.listTools(); // by which the client holds answers to their schemas
assert.deepEqual(tools.map((t) => t.name).sort(), ["check", "diff", "explain", "graph", "simulate"]);
const call = (name, args) => client.callTool({ name, arguments: args });
const bad = await call("check", { plan: job.bad });
assert.ok(bad.content[0].text.includes("OB203"));
assert.ok(!bad.isError);
for (const [tool, args] of [
	["check", { path: "plan.yaml" }],
	["explain", { code: "OB203" }],
	["graph", { plan: job.good, format: "mermaid" }],
	["simulate", { plan: job.good, branches: true }],
	["diff", { old: { plan: job.good }, new: { plan: job.bad } }],
]) {
	const answer = await call(tool, args);
	assert.ok(!answer.isError && answer.content[0].text, tool);
}
const refused = await call("simulate", { plan: job.bad });
assert.ok(refused.isError && refused.content[0].text.includes("OB203"));
assert.ok((await client.listResources()).resources.length > 10);
assert.ok((await client.readResource({ uri: "obelus://language" })).contents[0].text.includes("_outputPath"));

await assert.rejects(client.callTool({ name: "simulate", arguments: { plan: job.long, schedules: 100 } }, undefined, { signal: AbortSignal.timeout(100) }));
assert.ok(!(await call("check", { plan: job.good })).isError);
await client.close();
console.log("all is well");
