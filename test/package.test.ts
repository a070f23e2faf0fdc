import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allowLongTests } from "./support/test-depth.ts";

allowLongTests();

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "spanline-package-"));

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Copies the checkout, because packing builds, and a build in the checkout would replace `dist` for its users. */
function checkout(): string {
  const copy = join(folder, "checkout");
  const skipped = new Set(["node_modules", "dist", ".git", ".build"]);
  cpSync(root, copy, { recursive: true, filter: (path) => !skipped.has(basename(path)) });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

beforeAll(() => {
  const tarball = run("npm", ["pack", "--silent", "--pack-destination", folder], checkout()).trim();
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  run(
    "npm",
    ["install", "--silent", "--no-audit", "--no-fund", "--prefer-offline", tarball],
    folder,
  );
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("Packed package in an empty folder", () => {
  it("The command runs", () => {
    const capture = join(
      "node_modules",
      "spanline",
      "examples",
      "captures",
      "support-turn.eventstream",
    );
    const output = run(join("node_modules", ".bin", "spanline"), ["inspect", capture], folder);
    expect(output).toContain("→ track_parcel");
    expect(output).toContain("action-required (tool_use)");
  });

  it("Chunks import only other chunks, whose names contain a content hash", () => {
    const chunks = join(folder, "node_modules", "spanline", "dist", "chunks");
    const loaded = readdirSync(chunks)
      .filter((name) => name.endsWith(".js"))
      .flatMap((name) => readFileSync(join(chunks, name), "utf8").split("\n"))
      .flatMap((line) => /(?:from |import\()"(\.[^"]*)"/.exec(line)?.[1] ?? []);
    expect(loaded.length).toBeGreaterThan(100);
    expect(loaded.filter((path) => !/^\.\/[\w.-]+-[\w-]{8}\.js$/.test(path))).toEqual([]);
  });

  it("The codecs can be imported, with their types", () => {
    const script =
      'import { parse } from "spanline/wire"; import { SpanlineError } from "spanline";' +
      'console.log(parse([{ messageStop: { stopReason: "end_turn" } }]).stopReason, typeof SpanlineError)';
    expect(run(process.execPath, ["--input-type=module", "-e", script], folder)).toBe(
      "end_turn function\n",
    );
    const types = readdirSync(join(folder, "node_modules", "spanline", "dist", "wire"));
    expect(types).toContain("index.d.ts");
  });

  it("Each entry has one declaration file, which a strict project type-checks", () => {
    const dist = join(folder, "node_modules", "spanline", "dist");
    const declarations = readdirSync(dist, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".d.ts"))
      .toSorted();
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
      isEntry(target) ? [{ name: `spanline${name.slice(1)}`, types: target.types }] : [],
    );
    expect(entries).toHaveLength(7);
    const entryFiles = entries.map(({ types }) => types.replace("./dist/", ""));
    expect(declarations).toEqual(expect.arrayContaining(entryFiles));
    expect(declarations.length).toBeLessThan(40);
    const imports = entries.map(({ name }, at) => `import * as entry${at} from "${name}";`);
    const consumer = join(folder, "consumer");
    mkdirSync(consumer);
    symlinkSync(join(root, "node_modules", "@types"), join(consumer, "types"));
    writeFileSync(
      join(consumer, "consumer.ts"),
      [
        ...imports,
        `export const all: object[] = [${entries.map((_, at) => `entry${at}`).join(", ")}];`,
        'import { defineTool, type Tool } from "spanline";',
        'import type { Host } from "spanline/host";',
        "export type { Host };",
        "export const tools: Tool[] = [];",
        "// @ts-expect-error A tool has a definition.",
        "defineTool(5);",
      ].join("\n"),
    );
    writeFileSync(
      join(consumer, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          skipLibCheck: false,
          target: "es2023",
          lib: ["es2023", "dom", "dom.iterable"],
          module: "nodenext",
          exactOptionalPropertyTypes: true,
          typeRoots: ["./types"],
          types: ["node"],
        },
        files: ["consumer.ts"],
      }),
    );
    expect(run(join(root, "node_modules", ".bin", "tsc"), ["-p", "."], consumer)).toBe("");
  });

  it("The provider invokes the demo agent of the emulator", () => {
    const script =
      'import { emulate, TEST_CREDENTIALS } from "spanline/emulator";' +
      'import { harnessProvider } from "spanline/providers";' +
      "const emulator = await emulate();" +
      "const { url: endpoint, demoArn: harnessArn } = emulator;" +
      "const session = harnessProvider({ harnessArn, endpoint, credentials: TEST_CREDENTIALS }).open();" +
      "const { signal } = new AbortController();" +
      'const events = await session.invoke({ type: "prompt", texts: ["What is 2 + 3?"] }, { signal });' +
      'for await (const event of events) if (event.type === "text.end") console.log(event.text);' +
      "await emulator.close();";
    expect(run(process.execPath, ["--input-type=module", "-e", script], folder)).toBe(
      "That is 5.\n",
    );
  });

  it("The command of the ACP registry starts without a terminal [ACP-140]", () => {
    const entry = readFileSync(join(root, "registry", "spanline", "agent.json"), "utf8");
    const { args } = JSON.parse(entry).distribution.npx;
    const output = execFileSync("npx", ["--no-install", "spanline", ...args, "-d", "data"], {
      cwd: folder,
      encoding: "utf8",
      input: '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n',
      stdio: ["pipe", "pipe", "pipe"],
    });
    const [line = "", ...rest] = output.split("\n");
    expect(rest).toEqual([""]);
    expect(JSON.parse(line)).toMatchObject({
      id: 0,
      result: { agentInfo: { name: "spanline" }, authMethods: [{ id: "environment" }] },
    });
  });

  it("The host entries import no Node module [W-48]", () => {
    const found: string[] = [];
    const seen = new Set<string>();
    const waiting = ["index.js", "testing.js"].map((name) =>
      join(folder, "node_modules", "spanline", "dist", "host", name),
    );
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const imports = readFileSync(path, "utf8").matchAll(/^(?:import|export)[^;]*?"([^"]+)";$/gm);
      for (const [, name = ""] of imports) {
        if (name.startsWith(".")) waiting.push(join(path, "..", name));
        else found.push(name);
      }
    }
    expect(found).toEqual([]);
    expect(seen.size).toBeGreaterThan(2);
  });

  it("The package contains no tests and no paths of the build machine", () => {
    const shipped = join(folder, "node_modules", "spanline");
    const files = readdirSync(shipped, { recursive: true, encoding: "utf8" });
    expect(files.filter((path) => /\.test\.|^bench|node_modules|fixtures/.test(path))).toEqual([]);
    const texts = files.filter((path) => /\.(js|ts|map|json|md)$/.test(path));
    const naming = texts.filter((path) => readFileSync(join(shipped, path), "utf8").includes(root));
    expect(naming).toEqual([]);
  });
});

function isEntry(target: unknown): target is { readonly types: string } {
  return typeof target === "object" && target !== null && "types" in target;
}
