import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";

const DOCS = join(import.meta.dirname, "../../docs");

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** The blocks of a language in the section about the demo agent. */
function readExamples(page: string, language: string): string[] {
  const text = readFileSync(join(DOCS, page), "utf8");
  const [, section = ""] = /\n## Try it with the demo agent\n(.*?)\n## /s.exec(text) ?? [];
  const fence = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs");
  return [...section.matchAll(fence)].map(([, block = ""]) => block);
}

function createPlace(page: string): string {
  const place = join(command.folder, page);
  mkdirSync(place);
  return place;
}

describe("The examples with the demo agent", () => {
  it.each([
    ["workers.md", ["worker delegate: ponder: completed"]],
    [
      "artifacts.md",
      ["The plan is shown to the user", "The mermaid artifact is shown to the user"],
    ],
    ["transcript.md", ["My account is [redacted]", "I do not know your name yet"]],
  ])("The example of %s runs as the page says", async (page, expected) => {
    const place = createPlace(page);
    const [config = ""] = readExamples(page, "yaml");
    const [input = ""] = readExamples(page, "text");
    writeFileSync(join(place, "demo.yaml"), config);
    const args = ["chat", "--config", "demo.yaml", "--data-dir", join(place, "data")];
    const options = { workingDirectory: place, input };
    const { status, stdout, stderr } = await command.runProcess(args, options);
    expect(status).toBe(0);
    const text = (stdout + stderr).replaceAll(/\s+/g, " ");
    for (const part of expected) {
      expect(text).toContain(part);
      expect(readFileSync(join(DOCS, page), "utf8")).toContain(part);
    }
  });

  it("The example of steering.md delivers the message after the approval", async () => {
    const place = createPlace("steering.md");
    const data = join(place, "data");
    const args = ["up", "--port", "0", "--json", "--data-dir", data];
    const child = command.start(args, { workingDirectory: place });
    onTestFinished(() => void child.kill("SIGKILL"));
    const { url, sessionId } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
    const [example = ""] = readExamples("steering.md", "sh");
    const requests = [...example.matchAll(/^curl localhost:4777(\S+) .*-d '(.*)'$/gm)];
    expect(requests).toHaveLength(2);
    const send = async ([, path = "", body = ""]: readonly string[]): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      const address = url + path.replace("$ID", sessionId);
      return (await fetch(address, { method: "POST", headers, body })).json();
    };
    const [prompt = [], message = []] = requests;
    await send(prompt);
    expect(await send(message)).toMatchObject({ deliveredAs: "steer" });
    await eventually(async () => {
      const allow = ["sessions", "answer", "latest", "--allow", "--data-dir", data];
      expect(await command.run(allow)).toMatchObject({ status: 0 });
    });
    await eventually(async () => {
      const { stdout } = await command.run(["sessions", "show", "latest", "--data-dir", data]);
      expect(stdout).toContain("Also buy bread");
    });
  });
});
