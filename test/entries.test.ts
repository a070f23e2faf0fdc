import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { rolldown } from "rolldown";
import { describe, expect, it, vi } from "vitest";
import * as aigo from "../src/aigo/index.ts";
import * as emulator from "../src/emulator/index.ts";
import * as host from "../src/host/index.ts";
import * as hostTesting from "../src/host/testing.ts";
import * as words from "../src/index.ts";
import * as providers from "../src/providers/index.ts";
import * as wire from "../src/wire/index.ts";
import { allowLongTests } from "./support/test-depth.ts";

allowLongTests();

const source = join(import.meta.dirname, "../src");

/** `EVER` matches all imports of a file, `AT_IMPORT` only the imports before its first line runs. */
const EVER = /(?:from|import\()\s*"([^"]+)"/g;
const AT_IMPORT = /^(?:import|export)(?! type)[^;]*?from\s*"([^"]+)"/gm;

/** All files and packages imported by an entry, directly or not. */
function reached(
  entry: string,
  imports: RegExp = EVER,
): { readonly files: Set<string>; readonly packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = [join(source, entry)];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    for (const [, specifier = ""] of readFileSync(path, "utf8").matchAll(imports)) {
      if (specifier.startsWith(".")) waiting.push(join(dirname(path), specifier));
      else packages.add(specifier);
    }
  }
  return { files, packages };
}

describe("Public entries", () => {
  it("The entries export exactly these values", () => {
    expect(Object.keys(words).sort()).toMatchInlineSnapshot(`
      [
        "SpanlineError",
        "addToTurn",
        "buildTurn",
        "createToolError",
        "createToolOutput",
        "createToolSuccess",
        "createTurnBuilder",
        "defineAgent",
        "definePolicy",
        "defineTool",
        "findSandbox",
        "runToCompletion",
        "snapshotTurn",
        "workspaceTools",
      ]
    `);
    expect(Object.keys(wire).sort()).toMatchInlineSnapshot(`
      [
        "DIAGNOSTIC_CODES",
        "ERROR_CODES",
        "FrameChecksumError",
        "FrameError",
        "SpanlineError",
        "TruncatedStreamError",
        "addToTurn",
        "buildTurn",
        "createAigoEncoder",
        "createConverseFold",
        "createEventStreamDecoder",
        "createHarnessStream",
        "createInlineFunction",
        "createJsonArrayDecoder",
        "createJsonLinesDecoder",
        "createJsonStream",
        "createResponseEncoder",
        "createResumeMessages",
        "createRuntimeStream",
        "createSseDecoder",
        "createStrandsFold",
        "createToolError",
        "createToolSuccess",
        "createTurnBuilder",
        "createUserMessages",
        "encodeAigoOutput",
        "encodeEvent",
        "encodeException",
        "encodeFrame",
        "encodeJsonLine",
        "encodeResponse",
        "foldSdkStream",
        "parse",
        "readStreamMessage",
        "readUnionEvent",
        "resolveDisplayName",
        "runCodec",
        "snapshotTurn",
        "streamCodec",
        "toSdkMessages",
      ]
    `);
    expect(Object.keys(providers).sort()).toMatchInlineSnapshot(`
      [
        "AbortError",
        "AccessDeniedError",
        "AgentFailedError",
        "ConflictError",
        "ConnectFailedError",
        "ConnectionLostError",
        "DeadlineExceededError",
        "FirstEventTimeoutError",
        "IdleTimeoutError",
        "NotFoundError",
        "ProviderError",
        "QuotaExceededError",
        "ServiceFailedError",
        "ThrottledError",
        "UnauthorizedError",
        "UnexpectedResponseError",
        "UnknownExceptionError",
        "ValidationFailedError",
        "anthropic",
        "collectCommandOutput",
        "createImageBlock",
        "harnessProvider",
        "localProvider",
        "modelFromName",
        "openAiCompatible",
        "openSessionArtifacts",
        "runtimeProvider",
        "toError",
      ]
    `);
    expect(Object.keys(aigo).sort()).toMatchInlineSnapshot(`
      [
        "convertModelOutput",
        "convertUserInput",
        "providerFromEnvironment",
        "queryModel",
        "runInference",
      ]
    `);
    expect(Object.keys(emulator).sort()).toMatchInlineSnapshot(`
      [
        "ServiceError",
        "TEST_CREDENTIALS",
        "emulate",
      ]
    `);
    expect(Object.keys(host).sort()).toMatchInlineSnapshot(`
      [
        "CONNECTION_GONE",
        "ERROR_CODES",
        "SpanlineError",
        "TURN_CANCELLED",
        "connectWebSocket",
        "createClient",
        "createHost",
        "createLineTransport",
        "createShell",
        "formatPermissionRequest",
      ]
    `);
    expect(Object.keys(hostTesting)).toEqual(["createScriptedRuntime"]);
  });

  it("The codec and host entries import no package and no Node module, so they run in a browser [AC-98]", () => {
    expect([...reached("wire/index.ts").packages]).toEqual([]);
    expect(reached("wire/index.ts").files.size).toBeGreaterThan(30);
    for (const entry of ["host/index.ts", "host/testing.ts"]) {
      expect([...reached(entry).packages]).toEqual([]);
    }
  });

  it("The host entries bundle for a browser and run without Node [W-48]", async () => {
    const web = { TextEncoder, TextDecoder, AbortController, crypto, performance };
    const page = createContext({ ...web, setTimeout, clearTimeout });
    for (const entry of ["index", "testing"]) {
      const input = join(source, "host", `${entry}.ts`);
      const bundle = await rolldown({ input, platform: "browser", logLevel: "silent" });
      const { output } = await bundle.generate({ format: "iife", name: entry });
      await bundle.close();
      expect(output[0].imports).toEqual([]);
      runInContext(output[0].code, page);
    }
    const exportedNames: unknown = await runInContext(
      `(async () => {
        const runtime = testing.createScriptedRuntime({ turn: ({ say }) => say("Hi") });
        const client = index.createClient(runtime.connect, { host: index.createHost({}) });
        const { sessionId } = await client.newSession({ workingDirectory: "/" });
        const texts = [];
        for await (const { text } of client.prompt(sessionId, "Hi")) texts.push(text);
        return texts.join();
      })()`,
      page,
    );
    expect(exportedNames).toBe("Hi");
  });

  it("Importing the main entry loads only types and definitions, and the runtime is loaded on demand [AC-98]", () => {
    const { files, packages } = reached("index.ts", AT_IMPORT);
    const folders = [...files].map((path) => path.slice(source.length).split("/")[1] ?? "");
    expect([...new Set(folders)].sort()).toEqual([
      "bridge",
      "config",
      "data",
      "domain",
      "index.ts",
      "platform",
      "policy",
      "text",
      "tools",
    ]);
    expect([...packages].filter((name) => !name.startsWith("node:"))).toEqual(["re2js"]);
  });

  it("Each entry imports only the folders that it needs", () => {
    const foldersOf = (entry: string): string[] => {
      const folders = [...reached(entry).files].map(
        (path) => path.slice(source.length).split("/")[1],
      );
      return [...new Set(folders)].map(String).sort();
    };
    expect(foldersOf("providers/index.ts")).toMatchInlineSnapshot(`
      [
        "async",
        "aws",
        "data",
        "domain",
        "models",
        "platform",
        "providers",
        "remote",
        "text",
        "wire",
      ]
    `);
    expect(foldersOf("aigo/index.ts")).toEqual([
      "aigo",
      ...foldersOf("providers/index.ts").filter((folder) => folder !== "models"),
    ]);
    expect(foldersOf("emulator/index.ts")).toMatchInlineSnapshot(`
      [
        "async",
        "aws",
        "data",
        "domain",
        "emulator",
        "http",
        "models",
        "platform",
        "remote",
        "text",
        "wire",
      ]
    `);
  });
});

describe("Without Node's Buffer", () => {
  it("The codecs read the same streams without Buffer, as in a browser [AC-98]", async () => {
    const capture = readFileSync(join(source, "../examples/captures/support-turn.eventstream"));
    const sse = readFileSync(join(source, "../test/fixtures/strands/py-tool-turn.sse"));
    const whole = [
      wire.runCodec(wire.createHarnessStream(), [new Uint8Array(capture)]),
      wire.runCodec(wire.createRuntimeStream(), [new Uint8Array(sse)]),
    ];
    vi.resetModules();
    vi.stubGlobal("Buffer", undefined);
    const bare = await import("../src/wire/index.ts");
    const again = [
      bare.runCodec(bare.createHarnessStream(), [new Uint8Array(capture)]),
      bare.runCodec(bare.createRuntimeStream(), [new Uint8Array(sse)]),
    ];
    vi.unstubAllGlobals();
    expect(again).toEqual(whole);
  });
});
