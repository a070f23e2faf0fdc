import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { waitForOutput } from "../../support/command-line.ts";
import { formatTail } from "../../support/with-deadline.ts";

const MAIN = join(import.meta.dirname, "../../../dist/cli/main.js");

/** The built command `spanline up` in its own process and data directory. */
export interface BridgeProcess {
  /** Without a path. */
  readonly url: string;
  /** The printed link: the first session, with the token. */
  readonly link: string;
  readonly sessionId: string;
  readonly token: string;
  readonly dataDirectory: string;
  /** The folder where the command was started. */
  readonly project: string;
  /** Command and arguments of an agent for an ACP client, which joins this bridge. */
  readonly agentCommand: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  /** Starts a killed bridge on the same port. */
  restart(): Promise<void>;
  /** One request to `/api`, with the token. */
  request(method: string, path: string, body?: object): Promise<unknown>;
}

export interface BridgeOptions {
  /** The configuration. Default: none, so the agent is the demo agent. */
  readonly config?: object;
  readonly environment?: NodeJS.ProcessEnv;
  /** Called before the start. */
  readonly prepare?: (folders: BridgeFolders) => void | Promise<void>;
}

export type BridgeFolders = Pick<BridgeProcess, "dataDirectory" | "project">;

export async function startBridge(options: BridgeOptions = {}): Promise<BridgeProcess> {
  const root = mkdtempSync(join(tmpdir(), "spanline-browser-"));
  const project = join(root, "project");
  const dataDirectory = join(root, "data");
  mkdirSync(project);
  const place = ["--data-dir", dataDirectory];
  if (options.config !== undefined) {
    const file = join(root, "spanline.config.json");
    writeFileSync(file, JSON.stringify(options.config));
    place.push("--config", file);
  }
  await options.prepare?.({ dataDirectory, project });
  const environment = {
    PATH: process.env["PATH"],
    HOME: root,
    AWS_EC2_METADATA_DISABLED: "true",
    XDG_STATE_HOME: join(root, "state"),
    ...options.environment,
  };
  let child: ChildProcess | undefined;
  const errors: string[] = [];

  async function start(port: string): Promise<Started> {
    const args = [MAIN, "up", "--json", "--port", port, ...place];
    const started = spawn(process.execPath, args, {
      cwd: project,
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    started.stderr.on("data", (bytes: Buffer) => errors.push(String(bytes)));
    return readStarted(await waitForOutput(started.stdout, "}\n"));
  }

  async function kill(): Promise<void> {
    if (child === undefined || (child.exitCode ?? child.signalCode) !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  onTestFinished(async ({ task }) => {
    await kill();
    rmSync(root, { recursive: true, force: true });
    if (task.result?.state === "fail" && errors.length > 0) {
      process.stderr.write(`The bridge of "${task.name}" wrote:\n${formatTail(errors)}\n`);
    }
  });

  const { url, link, sessionId } = await start("0");
  const token = new URL(link).searchParams.get("token") ?? "";
  return {
    url,
    link,
    sessionId,
    token,
    dataDirectory,
    project,
    agentCommand: [process.execPath, MAIN, "acp", ...place],
    environment,
    kill,
    async restart() {
      const again = await start(new URL(url).port);
      if (again.link !== link) throw new Error(`The restarted bridge has the link ${again.link}`);
    },
    async request(method, path, body) {
      const response = await fetch(`${url}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
  };
}

interface Started {
  readonly url: string;
  readonly link: string;
  readonly sessionId: string;
}

function readStarted(text: string): Started {
  const started: unknown = JSON.parse(text);
  const { url, link, sessionId } = isObject(started) ? started : {};
  if (typeof url === "string" && typeof link === "string" && typeof sessionId === "string") {
    return { url, link, sessionId };
  }
  throw new Error(`spanline up --json printed ${text}`);
}
