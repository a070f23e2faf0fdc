import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { addAcpCommand } from "../src/cli/acp/acp-command.ts";
import { allowLongTests } from "./support/test-depth.ts";

allowLongTests();

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

function acpCommand(): Command {
  const spanline = new Command();
  addAcpCommand(spanline, async () => {});
  const [command] = spanline.commands;
  if (command === undefined) throw new Error("The acp command is missing");
  return command;
}

/** The unknown arguments of the command. */
function unknownTo([name, ...args]: readonly string[]): readonly string[] {
  const command = acpCommand();
  return command.name() === name ? command.parseOptions(args).unknown : [name ?? ""];
}

describe("Entry in the registry of ACP agents", () => {
  const folder = "registry/spanline";
  const entry = JSON.parse(read(`${folder}/agent.json`));
  const { version, license } = JSON.parse(read("package.json"));

  it("The entry has the exact version and the start command [ACP-140]", () => {
    expect(entry).toEqual({
      id: basename(folder),
      name: "Spanline",
      version,
      description: expect.stringMatching(/./),
      license,
      distribution: { npx: { package: `spanline@${version}`, args: ["acp"] } },
    });
    expect(entry.id).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(unknownTo(entry.distribution.npx.args)).toEqual([]);
  });

  it("The icon is 16 by 16 pixels and uses only the current color [ACP-140]", () => {
    const icon = read(`${folder}/icon.svg`);
    expect(icon).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="16" height="16" viewBox="0 0 16 16">/,
    );
    const colours = [...icon.matchAll(/\b(?:fill|stroke|stop-color|color)="([^"]*)"/g)];
    expect(new Set(colours.map(([, colour]) => colour))).toEqual(new Set(["none", "currentColor"]));
    expect(icon).not.toMatch(/style|<image|<script|url\(/);
    expect(readdirSync(join(root, folder)).sort()).toEqual(["agent.json", "icon.svg"]);
  });
});

describe("Pages about editors", () => {
  const pages = readdirSync(join(root, "docs/editors")).map((name) => `docs/editors/${name}`);

  it("There is a page for each of four editors, linked from the README and the overview", () => {
    expect(pages.map((page) => basename(page, ".md")).sort()).toEqual([
      "emacs",
      "jetbrains",
      "neovim",
      "zed",
    ]);
    for (const page of pages) {
      expect(read("README.md")).toContain(`](${page})`);
      expect(read("docs/editors.md")).toContain(`](${page.replace("docs/", "")})`);
    }
  });

  it.each(["zed", "jetbrains"])("The settings for %s are valid JSON with known flags", (name) => {
    const blocks = [...read(`docs/editors/${name}.md`).matchAll(/```json\n(.*?)```/gs)];
    const servers = blocks.flatMap(([, text]) =>
      Object.values<{ args: string[] }>(JSON.parse(text ?? "").agent_servers),
    );
    expect(servers).toHaveLength(2);
    for (const { args } of servers) expect(unknownTo(args)).toEqual([]);
  });

  it("The pages use only flags that the command has", () => {
    const flags = [...pages, "docs/editors.md"].flatMap((page) =>
      [...read(page).matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag),
    );
    const known = new Set(["--global", ...acpCommand().options.map(({ long }) => long)]);
    expect(flags.length).toBeGreaterThan(10);
    expect(flags.filter((flag) => !known.has(flag))).toEqual([]);
  });
});
