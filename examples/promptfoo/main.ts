// Runs the evaluation of this folder on the demo agent of a server that it starts, and checks what promptfoo found. With
// SPANLINE_URL and SPANLINE_KEY, on a server that runs already.

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
  readonly response?: {
    readonly output: string;
    readonly metadata?: { readonly session_id: string };
  };
}

const here = join(import.meta.dirname, "..");
const data = mkdtempSync(join(tmpdir(), "spanline-promptfoo-"));
const { SPANLINE_URL, SPANLINE_KEY = "none" } = process.env;
let server: ChildProcess | undefined;

try {
  const url = SPANLINE_URL?.replace(/\/(?:v1\/?)?$/, "") ?? (await started());
  await checkServer(url);
  const found = await evaluated(url);
  for (const { success, provider, testCase, response, error = "" } of found) {
    const mark = success ? "ok  " : "FAIL";
    const said = success ? response?.output : error;
    process.stdout.write(`${mark} ${provider.label}: ${testCase.description}: ${said}\n`);
  }
  const problems = problemsOf(found);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  server?.kill();
  rmSync(data, { recursive: true, force: true });
}

/** A server on a free port, with nothing kept from before. */
async function started(): Promise<string> {
  const program = join(here, "..", "..", "dist", "cli", "main.js");
  const options = ["serve", "--port", "0", "--json", "--data-dir", data];
  const { stdout, stderr } = (server = spawn(process.execPath, [program, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  }));
  // What it says of its end is about folders that are gone then.
  let notes = "";
  stderr.on("data", (piece) => (notes += String(piece)));
  for await (const line of createInterface(stdout)) return JSON.parse(line).url;
  throw new Error(`The server ended before it said where it listens. ${notes}`);
}

/** One complaint about an address or a key that is wrong, rather than one for each turn. */
async function checkServer(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${SPANLINE_KEY}` };
  const answer = await fetch(`${url}/v1/models`, { headers }).catch((error: unknown) => {
    throw new Error(`There is no server at ${url}: look at SPANLINE_URL`, { cause: error });
  });
  if (answer.ok) return;
  const said = (await answer.text()).trim();
  throw new Error(`${url} answers ${answer.status}: ${said}\nLook at SPANLINE_KEY`);
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

/** What is not as it should be, for whoever reads it. */
function problemsOf(found: readonly Found[]): string[] {
  const failed = found.filter(({ success }) => !success).length;
  return [
    ...(found.length === 10 ? [] : [`There are ${found.length} turns, wanted 5 carried in 2 ways`]),
    ...(failed === 0 ? [] : [`${failed} of ${found.length} turns are not as they should be`]),
    ...(failed === 0 ? sessionProblems(found) : []),
  ];
}

/** Each conversation has one session for each way it is carried, and shares it with no other. */
function sessionProblems(found: readonly Found[]): string[] {
  const sessions = new Map<string, string>();
  const problems: string[] = [];
  for (const { provider, testCase, response } of found) {
    const id = response?.metadata?.session_id ?? "none";
    const conversation = `${provider.label} ${testCase.metadata.conversationId}`;
    const other = sessions.get(id) ?? conversation;
    if (other !== conversation) problems.push(`${id} carried ${other} and ${conversation}`);
    sessions.set(id, conversation);
  }
  if (sessions.size !== 4) problems.push(`There are ${sessions.size} sessions, wanted 4`);
  return problems;
}
