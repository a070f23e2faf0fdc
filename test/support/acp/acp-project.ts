import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Transform } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { isObject, type JsonValue } from "../../../src/data/json.ts";
import { findAcpProblems } from "./acp-schema.ts";
import type { CommandLine } from "../command-line.ts";
import {
  hangs,
  says,
  startModelServer,
  wants,
  type ModelServerRequest,
  type ModelServer,
  type ScriptedResponse,
} from "../server/model-server.ts";

/** A project with a scripted model and an agent that requests approval before it writes a file. */
export interface AcpProject {
  /** The folder opened by an editor. */
  readonly project: string;
  /** The data directory. */
  readonly data: string;
  readonly model: ModelServer;
  /** The arguments of the command, and its additional environment. */
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Starts the agent in a separate process. */
  start(): AcpProcess;
  /** Like `start`, without the validation of messages. */
  spawn(...flags: readonly string[]): ChildProcessWithoutNullStreams;
  /** True if the last message of any model request contains these words. */
  hasModelReceived(words: string): boolean;
  /** The content of a file written by the agent. Undefined if the file does not exist. */
  readWritten(file: string): string | undefined;
}

export interface AcpProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** The pipes of the process. All messages are validated against the schemas of ACP. */
  readonly input: NodeJS.WritableStream & Transform;
  readonly output: NodeJS.ReadableStream & Transform;
  /** The output on standard error. */
  readonly notes: () => string;
  /** The exit code and the signal. */
  readonly exit: Promise<unknown[]>;
}

/**
 * Creates a project. `agent` overrides the configuration of the agent, `answers` the responses of its model.
 *
 * By default the model writes "note.txt" if the prompt starts with "write", stops in the middle of its response to
 * "wait for me", and repeats any other prompt.
 */
export async function createAcpProject(
  command: CommandLine,
  agent: object = {},
  answers: (asked: ModelServerRequest) => ScriptedResponse = chooseResponse,
): Promise<AcpProject> {
  const root = mkdtempSync(join(command.folder, "world-"));
  const project = join(root, "project");
  mkdirSync(project);
  const model = await startModelServer("chat", answers);
  const coder = {
    provider: { type: "local", model: "openai:any" },
    workspace: { tools: ["read_file", "write_file"] },
    approvals: { allow: ["read_file"], ask: ["*"] },
    ...agent,
  };
  const config = join(root, "spanline.config.json");
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const data = join(root, "data");
  const args = ["acp", "--config", config, "--data-dir", data];
  const environment = { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: "none" };
  const spawn: AcpProject["spawn"] = (...flags) => {
    const options = { environment, isOpen: true, workingDirectory: project };
    return command.start([...args, ...flags], options);
  };
  return {
    project,
    data,
    model,
    args,
    environment,
    spawn,
    start: () => watchProcess(spawn()),
    hasModelReceived: (words) =>
      model.modelRequests.some(({ messages }) => JSON.stringify(messages.at(-1)).includes(words)),
    readWritten(file) {
      const path = join(project, file);
      return existsSync(path) ? readFileSync(path, "utf8") : undefined;
    },
  };
}

function chooseResponse({ messages }: ModelServerRequest): ScriptedResponse {
  const last = messages.at(-1);
  if (last?.role === "tool") return says("It is done.");
  const promptText = readContentText(last?.content);
  if (promptText.startsWith("write")) {
    return wants({ id: "w", name: "write_file", input: { path: "note.txt", content: promptText } });
  }
  return promptText === "wait for me" ? hangs("One moment") : says(`You said: ${promptText}`);
}

function readContentText(content: unknown): string {
  if (typeof content === "string") return content;
  return (Array.isArray(content) ? content : [])
    .map((part: unknown) =>
      isObject(part) && typeof part["text"] === "string" ? part["text"] : "",
    )
    .join("");
}

function watchProcess(child: ChildProcessWithoutNullStreams): AcpProcess {
  const methods = new Map<JsonValue, string>();
  const problems: string[] = [];
  let notes = "";
  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    notes += text;
  });
  const input = createLineTap((line) => {
    const { id, method } = JSON.parse(line);
    if (id !== undefined && method !== undefined) methods.set(id, method);
  });
  const output = createLineTap((line) => {
    const message = JSON.parse(line);
    const answered = message.method === undefined ? methods.get(message.id) : undefined;
    problems.push(...findAcpProblems(message, answered));
  });
  input.pipe(child.stdin);
  child.stdout.pipe(output);
  onTestFinished(() => expect(problems).toEqual([]));
  return { child, input, output, notes: () => notes, exit: once(child, "exit") };
}

/** Passes all bytes on and calls `show` with each line. */
function createLineTap(show: (line: string) => void): Transform {
  const decoder = new TextDecoder();
  let rest = "";
  return new Transform({
    transform(chunk: Uint8Array, _, done) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) show(line);
      done(null, chunk);
    },
  });
}
