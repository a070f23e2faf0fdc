// Runs the evaluation of this folder on the demo agent of a server that it starts, and checks what promptfoo found. With
// SPANLINE_URL and SPANLINE_KEY, on a server that runs already.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface Found {
  readonly success: boolean;
  readonly error?: string;
  readonly provider: { readonly label: string };
  readonly testCase: {
    readonly description: string;
    readonly metadata: { readonly conversationId: string };
  };
  readonly response: {
    readonly output: string;
    readonly metadata: { readonly session_id: string };
  };
}

const here = join(import.meta.dirname, "..");
const data = mkdtempSync(join(tmpdir(), "spanline-promptfoo-"));
const { SPANLINE_URL, SPANLINE_KEY = "none" } = process.env;
let server: ChildProcess | undefined;

try {
  const url = SPANLINE_URL ?? (await started());
  const found = await evaluated(url);
  for (const { success, provider, testCase, response, error = "" } of found) {
    const mark = success ? "ok  " : "FAIL";
    const said = success ? response.output : error;
    process.stdout.write(`${mark} ${provider.label}: ${testCase.description}: ${said}\n`);
  }
  assert.equal(found.length, 10, "Five turns, each carried in two ways");
  assert.ok(found.every(({ success }) => success));
  assert.equal(sessionsOf(found).size, 4, "One session for each conversation and carrier");
} finally {
  server?.kill();
  rmSync(data, { recursive: true, force: true });
}

/** A server on a free port, with nothing kept from before. */
async function started(): Promise<string> {
  const program = join(here, "..", "..", "dist", "cli", "main.js");
  const options = ["serve", "--port", "0", "--json", "--data-dir", data];
  const { stdout } = (server = spawn(process.execPath, [program, ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  }));
  for await (const line of createInterface(stdout)) return JSON.parse(line).url;
  throw new Error("The server ended before it said where it listens");
}

async function evaluated(url: string): Promise<readonly Found[]> {
  const output = join(data, "found.json");
  const program = join(here, "node_modules", "promptfoo", "dist", "src", "entrypoint.js");
  // One at a time: a turn needs the answer of the one before it.
  const options = ["eval", "-c", join(here, "promptfooconfig.yaml"), "-j", "1", "-o", output];
  const quiet = ["--no-cache", "--no-write", "--no-progress-bar", "--no-table"];
  const env = {
    ...process.env,
    SPANLINE_URL: url,
    SPANLINE_KEY,
    PROMPTFOO_DISABLE_TELEMETRY: "1",
    PROMPTFOO_DISABLE_UPDATE: "1",
    PROMPTFOO_CONFIG_DIR: join(data, "promptfoo"),
  };
  const promptfoo = spawn(process.execPath, [program, ...options, ...quiet], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(promptfoo, "exit");
  return JSON.parse(readFileSync(output, "utf8")).results.results;
}

/** The ids of the sessions, and for each the conversation that it carried. */
function sessionsOf(found: readonly Found[]): Map<string, string> {
  const sessions = new Map<string, string>();
  for (const { provider, testCase, response } of found) {
    const { session_id: id } = response.metadata;
    const conversation = `${provider.label} ${testCase.metadata.conversationId}`;
    assert.equal(sessions.get(id) ?? conversation, conversation, `${id} carried two conversations`);
    sessions.set(id, conversation);
  }
  return sessions;
}
