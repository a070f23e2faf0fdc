import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { says, startModelServer, wants } from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** Returns the configuration at the start of the README. */
function configInReadme(): string {
  const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  const [, config] = /```yaml\n(agents:[\s\S]*?)```/.exec(readme) ?? [];
  if (config === undefined) throw new Error("The README shows no configuration");
  return config;
}

it("The agent of the README asks before a write, gets the decision, and leaves receipts of both", async () => {
  const edit = { path: "src/a.ts", old_text: "1", new_text: "2" };
  const model = await startModelServer("chat", [
    wants({ id: "c1", name: "read_file", input: { path: "src/a.ts" } }),
    wants({ id: "c2", name: "read_file", input: { path: ".env" } }),
    wants({ id: "c3", name: "edit_file", input: edit }),
    says("It is done."),
  ]);
  const root = join(command.folder, "story");
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/a.ts"), "const a = 1;\n");
  writeFileSync(join(root, ".env"), "hunter2\n");
  const config = configInReadme().replace("ollama:qwen3", "openai:scripted");
  writeFileSync(join(root, "spanline.config.yaml"), config);
  const environment = { OPENAI_BASE_URL: `${model.url}/v1`, XDG_STATE_HOME: join(root, "state") };
  const options = { workingDirectory: root, environment };
  const place = ["--data-dir", join(root, "data")];

  const check = ["policy", "check", "edit_file", JSON.stringify(edit), ...place];
  expect((await command.run(check, options)).status).toBe(3);

  const up = command.start(["up", "--port", "0", "--json", ...place], options);
  const { url, link, sessionId } = JSON.parse(await waitForOutput(up.stdout, "}\n"));
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${url}/api/sessions/${sessionId}/${path}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${new URL(link).searchParams.get("token")}`,
      },
      body: JSON.stringify(body),
    });
  const turn = post("prompt", { text: "Set a to 2", wait: true });
  const approvalId = await eventually(async () => {
    const { stdout } = await command.run(
      ["sessions", "show", "latest", "--events", ...place],
      options,
    );
    const [found] = /appr_[a-z0-9_]+/.exec(stdout) ?? [];
    expect(found).toBeDefined();
    return found;
  });
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("const a = 1;\n");
  await post("commands", { type: "answer", approvalId, decision: "allow" });
  expect(await (await turn).json()).toMatchObject({
    outcome: "completed",
    text: expect.stringMatching(/It is done\.$/),
  });
  expect(readFileSync(join(root, "src/a.ts"), "utf8")).toBe("const a = 2;\n");
  expect(JSON.stringify(model.modelRequests)).not.toContain("hunter2");
  up.kill("SIGINT");
  expect(await once(up, "exit")).toEqual([0, null]);

  const audit = await command.run(["sessions", "audit", "latest", ...place], options);
  expect(audit.status).toBe(0);
  expect(audit.stdout).toMatch(/read_file \.env: deny/);
  expect(audit.stdout).toMatch(/edit_file src\/a\.ts: ask/);
  expect(audit.stdout).toContain("answered");
  expect(audit.stdout).toMatch(/\b(\d+) receipts, \1 valid\.\n$/);
});
