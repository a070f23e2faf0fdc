// Runs the evaluation in this folder with the demo agent of a new server and checks the results of promptfoo. With
// SPANLINE_URL and SPANLINE_KEY, uses an existing server instead.

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

/** Starts a server on a free port with an empty data directory and returns its address. */
async function startServer(): Promise<string> {
  const program = join(projectFolder, "..", "..", "dist", "cli", "main.js");
  const options = ["serve", "--port", "0", "--json", "--data-dir", dataFolder];
  const { stdout, stderr } = (server = spawn(process.execPath, [program, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  }));
  // Collected, not printed: at its end the server reports folders which have been deleted by then.
  let notes = "";
  stderr.on("data", (piece) => (notes += String(piece)));
  for await (const line of createInterface(stdout)) return JSON.parse(line).url;
  throw new Error(`The server exited before it printed its address. ${notes}`);
}

/** Reports a wrong address or key once, instead of once per turn. */
async function checkServer(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${SPANLINE_KEY}` };
  const response = await fetch(`${url}/v1/models`, { headers }).catch((error: unknown) => {
    throw new Error(`No server answers at ${url}. Fix: check SPANLINE_URL`, { cause: error });
  });
  if (response.ok) return;
  const responseText = (await response.text()).trim();
  throw new Error(
    `${url} responded with ${response.status}: ${responseText}\nFix: check SPANLINE_KEY`,
  );
}

async function runEvaluation(url: string): Promise<readonly PromptfooResult[]> {
  const output = join(dataFolder, "found.json");
  const program = join(projectFolder, "node_modules", "promptfoo", "dist", "src", "entrypoint.js");
  // `-j 1`: a turn needs the response of the turn before it.
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

/** Lists the problems as messages for the user. */
function listProblems(results: readonly PromptfooResult[]): string[] {
  const failed = results.filter(({ success }) => !success).length;
  return [
    ...(results.length === 10
      ? []
      : [`There are ${results.length} turns, expected 10 (5 turns in 2 variants)`]),
    ...(failed === 0 ? [] : [`${failed} of ${results.length} turns failed`]),
    ...(failed === 0 ? listSessionProblems(results) : []),
  ];
}

/** Each conversation must have a separate session per variant. */
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
  if (sessions.size !== 4) problems.push(`There are ${sessions.size} sessions, expected 4`);
  return problems;
}
