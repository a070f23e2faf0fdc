import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { SessionEvent, SessionEventType } from "../../src/domain/events/session-event.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { says, startModelServer, wants } from "../support/server/model-server.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
});
afterAll(() => cli.close());

type Of<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>;

/** Waits for the nth event of a type in the only session of a directory. */
async function nthEvent<Type extends SessionEventType>(
  directory: string,
  type: Type,
  nth: number,
): Promise<Of<Type>> {
  const isIt = (event: SessionEvent): event is Of<Type> => event.type === type;
  const store = await openSqliteStore({ file: join(directory, "sessions.db"), readOnly: true });
  try {
    const { sessions } = await store.listSessions({ limit: 1 });
    const end = new AbortController();
    let count = 0;
    for await (const { events } of store.subscribe(
      sessions[0]?.sessionId ?? "",
      undefined,
      end.signal,
    )) {
      for (const { event } of events) if (isIt(event) && ++count === nth) return event;
    }
  } finally {
    await store.close();
  }
  throw new Error(`There is no ${type}`);
}

interface StartedBridge {
  readonly directory: string;
  readonly token: string;
  /** The text on stderr. */
  readonly noted: () => string;
  answer(approvalId: string, decision: string): Promise<number>;
  prompt(text: string): Promise<number>;
  end(signal: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** The model server of both users. */
let modelUrl = "";

/** Runs `spanline up` for a user with the state folder below `home`. */
async function up(home: string, at: string, ...flags: readonly string[]): Promise<StartedBridge> {
  const environment = {
    XDG_STATE_HOME: join(home, ".state"),
    SPANLINE_DATA_DIR: "",
    OPENAI_BASE_URL: modelUrl,
  };
  const args = ["up", "--port", "0", "--json", ...flags];
  const child = cli.start(args, { environment, workingDirectory: at });
  let noted = "";
  child.stderr.on("data", (chunk) => (noted += String(chunk)));
  const { url, link, sessionId, directory } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
  const token = new URL(link).searchParams.get("token") ?? "";
  const post = async (path: string, body: object): Promise<number> => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const to = `${url}/api/sessions/${sessionId}/${path}`;
    return (await fetch(to, { method: "POST", headers, body: JSON.stringify(body) })).status;
  };
  return {
    directory,
    token,
    noted: () => noted,
    answer: (approvalId, decision) => post("commands", { type: "answer", approvalId, decision }),
    prompt: (text) => post("prompt", { text }),
    async end(signal) {
      const gone = once(child, "exit");
      child.kill(signal);
      await gone;
    },
  };
}

function configuration(): string {
  const provider = { type: "local", model: "openai:x" };
  const caps = { parallelTools: 1 };
  return JSON.stringify({ agents: { coder: { provider, workspace: true, policy: {}, caps } } });
}

/** A repository with a committed data directory. Its author has allowed a command before the command started. */
async function plantedRepository() {
  const command = (id: string, text: string) => {
    return { id, name: "run_command", input: { command: text } };
  };
  const model = await startModelServer("chat", [
    wants(command("c1", "sleep 30"), command("c2", "echo ran > RAN")),
    says("Done."),
  ]);
  modelUrl = `${model.url}/v1`;
  const theirs = join(cli.folder, "theirs");
  mkdirSync(theirs);
  writeFileSync(join(theirs, "spanline.config.json"), configuration());
  const data = join(theirs, ".spanline");
  const bridge = await up(theirs, theirs, "--data-dir", data);
  await bridge.prompt("Go.");
  for (const nth of [1, 2]) {
    const { approvalId } = await nthEvent(data, "approval.requested", nth);
    await bridge.answer(approvalId, "allow");
  }
  await nthEvent(data, "approval.resolved", 2);
  await bridge.end("SIGKILL");

  const mine = join(cli.folder, "mine");
  const repository = join(mine, "repository");
  mkdirSync(repository, { recursive: true });
  writeFileSync(join(mine, "spanline.config.json"), configuration());
  const planted = join(repository, ".spanline");
  cpSync(data, planted, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  const hasRun = (): boolean =>
    [mine, repository, theirs].some((folder) => existsSync(join(folder, "RAN")));
  return { mine, repository, planted, hasRun, token: bridge.token };
}

describe("Data directory from a repository", () => {
  it("The directory is ignored unless it is named, and then no command runs with an approval from elsewhere", async () => {
    const { mine, repository, planted, hasRun, token } = await plantedRepository();
    const before = readFileSync(join(planted, "sessions.db"));
    const found = await up(mine, repository);
    expect(found.directory).toBe(join(mine, ".state/spanline"));
    const unused = `${planted} is ignored, because it is not known to be yours.`;
    await eventually(() => expect(found.noted()).toContain(unused));
    await found.end("SIGTERM");
    const environment = { XDG_STATE_HOME: join(mine, ".state"), SPANLINE_DATA_DIR: "" };
    const listed = await cli.run(["sessions", "list", "--json"], {
      environment,
      workingDirectory: repository,
    });
    expect(listed.stderr).toContain(`${planted} is ignored`);
    expect(readFileSync(join(planted, "sessions.db")).equals(before)).toBe(true);

    const named = await up(mine, repository, "--data-dir", planted);
    expect(named.directory).toBe(planted);
    expect(named.token).not.toBe(token);
    await nthEvent(planted, "approvals.invalidated", 1);
    const attempts = [
      await nthEvent(planted, "approval.requested", 3),
      await nthEvent(planted, "approval.requested", 4),
    ];
    expect(attempts).toMatchObject([
      { question: "outcome", input: { command: "sleep 30" } },
      { question: "run", input: { command: "echo ran > RAN" } },
    ]);
    expect(hasRun()).toBe(false);
    await named.end("SIGTERM");

    // The directory is now registered for this user, with no approval of another user left.
    const known = await up(mine, repository);
    expect([known.directory, known.token]).toEqual([planted, named.token]);
    expect(known.noted()).not.toContain("is not used");
    await known.end("SIGTERM");
    expect(hasRun()).toBe(false);
  });
});
