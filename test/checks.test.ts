import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { allowLongTests } from "./support/test-depth.ts";

allowLongTests();

const root = join(import.meta.dirname, "..");
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/**
 * Creates a project with a single file and this repository's settings. A tool that accepts a planted fault checks
 * nothing.
 */
function planted(path: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-planted-"));
  folders.push(folder);
  for (const settings of [".oxlintrc.json", ".oxfmtrc.json", "knip.json"]) {
    cpSync(join(root, settings), join(folder, settings));
  }
  const manifest = { name: "planted", type: "module" };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2023",
    noEmit: true,
    types: [],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, include: ["src"] }),
  );
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return folder;
}

function run(
  tool: string,
  args: readonly string[],
  cwd: string,
): { status: number | null; output: string } {
  const bin = join(root, "node_modules", ".bin", tool);
  const { status, stdout, stderr } = spawnSync(bin, args, { cwd, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe("Code checks", () => {
  const lint = (text: string) =>
    run("oxlint", ["--type-aware", "--deny-warnings"], planted("src/index.ts", text));

  it("The linter reports a floating promise, which requires type information", () => {
    const { status, output } = lint(
      "async function f(): Promise<void> {}\nexport function g(): void {\n  f();\n}\n",
    );
    expect(output).toContain("no-floating-promises");
    expect(status).toBe(1);
  });

  it("The linter reports any", () => {
    expect(lint("export const x = (value: any): unknown => value;\n").output).toContain(
      "no-explicit-any",
    );
  });

  it("The linter accepts a correct file", () => {
    expect(lint("export const x = 1;\n")).toMatchObject({ status: 0 });
  });

  it("The formatter reports an unformatted file", () => {
    expect(
      run("oxfmt", ["--check"], planted("src/index.ts", "export const x   =  1\n")).status,
    ).toBe(1);
  });

  it("The type check reports a wrong type", () => {
    const folder = planted("src/index.ts", 'export const x: number = "1";\n');
    expect(run("tsc", ["-p", "tsconfig.json"], folder).output).toContain("TS2322");
  });

  it("The unused-code check reports a file without imports", () => {
    const folder = planted("src/orphan.ts", "export const x = 1;\n");
    const { status, output } = run("knip", ["--no-progress"], folder);
    expect(output).toContain("src/orphan.ts");
    expect(status).toBe(1);
  });
});
