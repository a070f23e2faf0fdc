import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  createCommandLine,
  type CommandLine,
  type CommandResult,
} from "../support/command-line.ts";
import { allowLongTests } from "../support/test-depth.ts";

allowLongTests();

const root = join(import.meta.dirname, "../..");
const FILE_SERVER = join(
  root,
  "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
  await command.bundle("index.ts", "tutorial/node_modules/spanline/index.mjs");
  const manifest = { name: "spanline", type: "module", exports: "./index.mjs" };
  writeFileSync(
    join(command.folder, "tutorial/node_modules/spanline/package.json"),
    JSON.stringify(manifest),
  );
});
afterAll(() => command.close());

/** A step of the tutorial: its files and its Spanline commands. */
interface Step {
  readonly title: string;
  readonly config: string | undefined;
  readonly tools: string | undefined;
  readonly commands: readonly string[];
}

function readSteps(): Step[] {
  const page = readFileSync(join(root, "docs/tutorial.md"), "utf8");
  const findBlock = (section: string, language: string): string | undefined =>
    new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(section)?.[1];
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf("\n")),
      config: findBlock(section, "yaml"),
      tools: findBlock(section, "js"),
      commands: [...section.matchAll(/^npx spanline (.+)$/gm)].map(([, line = ""]) => line),
    }));
}

/** Splits a line of the tutorial into arguments. Quotes group words. */
function splitArguments(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

it("Every step of the tutorial up to the browser works as written", async () => {
  const folder = join(command.folder, "tutorial");
  mkdirSync(folder, { recursive: true });
  const options = {
    workingDirectory: folder,
    environment: { XDG_STATE_HOME: join(folder, "state") },
  };
  const results = new Map<string, CommandResult[]>();
  for (const { title, config, tools, commands } of readSteps().slice(0, 5)) {
    // The test uses the installed server, because npx would download it.
    const configured = config?.replace(
      'command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "."]',
      `command: node, args: ["${FILE_SERVER}", "."]`,
    );
    if (configured !== undefined) writeFileSync(join(folder, "spanline.config.yaml"), configured);
    if (tools !== undefined) writeFileSync(join(folder, "tools.mjs"), tools);
    for (const line of commands) {
      const result = await command.runProcess(splitArguments(line), options);
      results.set(title, [...(results.get(title) ?? []), result]);
    }
  }

  const [greeting] = results.get("2. Configure an agent") ?? [];
  expect(greeting).toMatchObject({ status: 0, stdout: expect.stringContaining("Hello") });
  // Without a terminal, a tool without a rule is denied.
  const [trusted, denied] = results.get("3. Add a tool") ?? [];
  expect(trusted).toMatchObject({ status: 0, stdout: expect.stringContaining("tools.mjs") });
  expect(denied).toMatchObject({ status: 1, stderr: expect.stringContaining("roll_dice") });
  expect(denied?.stdout).not.toContain("You rolled");
  const [, checked, rolled] = results.get("4. Write a policy") ?? [];
  expect(checked).toMatchObject({ status: 0, stdout: expect.stringContaining("allow") });
  expect(rolled).toMatchObject({ status: 0, stdout: expect.stringMatching(/You rolled [1-6]/) });
  const [, listed] = results.get("5. Add an MCP server") ?? [];
  expect(listed).toMatchObject({ status: 0, stdout: expect.stringContaining(folder) });
});
