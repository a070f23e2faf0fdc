// Runs the evaluation of this folder on the demo agent of a server that it starts, and checks what promptfoo found. With
// SPANLINE_URL and SPANLINE_KEY, on a server that runs already.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

interface PromptfooResult {
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

const projectFolder = join(import.meta.dirname, "..");
const dataFolder = mkdtempSync(join(tmpdir(), "spanline-promptfoo-"));
const { SPANLINE_URL, SPANLINE_KEY = "none" } = process.env;
let server: ChildProcess | undefined;

try {
  const url = SPANLINE_URL?.replace(/\/(?:v1\/?)?$/, "") ?? (await startServer());
  await checkServer(url);
  const found = await runEvaluation(url);
  for (const { success, provider, testCase, response, error = "" } of found) {
    const mark = success ? "ok  " : "FAIL";
    const said = success ? response?.output : error;
    process.stdout.write(`${mark} ${provider.label}: ${testCase.description}: ${said}\n`);
  }
  const problems = listProblems(found);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  server?.kill();
  rmSync(dataFolder, { recursive: true, force: true });
}

/** A server on a free port, with nothing kept from before. */
async function startServer(): Promise<string> {
  const program = join(projectFolder, "..", "..", "dist", "cli", "main.js");
  const options = ["serve", "--port", "0", "--json", "--data-dir", dataFolder];
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
  const response = await fetch(`${url}/v1/models`, { headers }).catch((error: unknown) => {
    throw new Error(`There is no server at ${url}: look at SPANLINE_URL`, { cause: error });
  });
  if (response.ok) return;
  const responseText = (await response.text()).trim();
  throw new Error(`${url} answers ${response.status}: ${responseText}\nLook at SPANLINE_KEY`);
}

async function runEvaluation(url: string): Promise<readonly PromptfooResult[]> {
  const output = join(dataFolder, "found.json");
  const program = join(projectFolder, "node_modules", "promptfoo", "dist", "src", "entrypoint.js");
  // One at a time: a turn needs the answer of the one before it.
  const options = [
    "eval",
    "-c",
    join(projectFolder, "promptfooconfig.yaml"),
    "-j",
    "1",
    "-o",
    output,
  ];
  const quiet = ["--no-cache", "--no-write", "--no-progress-bar", "--no-table"];
  const env = {
    ...process.env,
    SPANLINE_URL: url,
    SPANLINE_KEY,
    PROMPTFOO_DISABLE_TELEMETRY: "1",
    PROMPTFOO_DISABLE_UPDATE: "1",
    PROMPTFOO_CONFIG_DIR: join(dataFolder, "promptfoo"),
  };
  const promptfoo = spawn(process.execPath, [program, ...options, ...quiet], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(promptfoo, "exit");
  return JSON.parse(readFileSync(output, "utf8")).results.results;
}

/** What is not as it should be, for whoever reads it. */
function listProblems(results: readonly PromptfooResult[]): string[] {
  const failed = results.filter(({ success }) => !success).length;
  return [
    ...(results.length === 10
      ? []
      : [`There are ${results.length} turns, wanted 5 carried in 2 ways`]),
    ...(failed === 0 ? [] : [`${failed} of ${results.length} turns are not as they should be`]),
    ...(failed === 0 ? listSessionProblems(results) : []),
  ];
}

/** Each conversation has one session for each way it is carried, and shares it with no other. */
function listSessionProblems(results: readonly PromptfooResult[]): string[] {
  const sessions = new Map<string, string>();
  const problems: string[] = [];
  for (const { provider, testCase, response } of results) {
    const id = response?.metadata?.session_id ?? "none";
    const conversation = `${provider.label} ${testCase.metadata.conversationId}`;
    const other = sessions.get(id) ?? conversation;
    if (other !== conversation) problems.push(`${id} carried ${other} and ${conversation}`);
    sessions.set(id, conversation);
  }
  if (sessions.size !== 4) problems.push(`There are ${sessions.size} sessions, wanted 4`);
  return problems;
}
