import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** Starts a bridge with a pending approval of a note. */
async function asking(name: string) {
  const directory = join(command.folder, name);
  const place = ["--data-dir", directory];
  const up = command.start(["up", "--port", "0", "--json", ...place]);
  const { url, link, sessionId } = JSON.parse(await waitForOutput(up.stdout, "}\n"));
  const token = new URL(link).searchParams.get("token");
  const turn = fetch(`${url}/api/sessions/${sessionId}/prompt`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ text: "Please save a note: buy milk", wait: true }),
  });
  // A killed bridge sends no response.
  turn.catch(() => undefined);
  const answer = (...args: readonly string[]) =>
    command.run(["sessions", "answer", "latest", ...args, ...place]);
  const listed = await eventually(async () => {
    const { stdout, status } = await answer();
    expect(status).toBe(0);
    return stdout;
  });
  return { up, directory, place, turn, answer, listed, sessionId };
}

it("An open approval of `up` is listed without a terminal and decided by a flag", async () => {
  const { up, directory, turn, answer, listed } = await asking("by-flag");
  expect(listed).toMatch(
    /^appr_\S+ {2}save_note \{"text":"buy milk"\}\n {2}Why: .*\n {2}Answers: allow, always allow, deny\n/,
  );
  expect((await answer("--answer", "perhaps")).stderr).toContain(
    "expected allow, always allow, deny",
  );
  expect((await answer("appr_none", "--allow")).status).toBe(2);
  const allowRun = await answer("--allow");
  expect([allowRun.status, allowRun.stderr]).toEqual([
    0,
    expect.stringMatching(/^appr_.*: allow\n$/),
  ]);
  expect(await (await turn).json()).toMatchObject({ outcome: "completed" });
  expect(readFileSync(join(directory, "notes.txt"), "utf8")).toContain("buy milk");
  const none = await answer("--allow");
  expect(none.status).toBe(2);
  expect(none.stderr).toMatch(
    /^No approval is open in ses_\w+\nFix: .*`spanline sessions list`\.\n$/,
  );
  up.kill("SIGINT");
  await once(up, "exit");
});

it("A decision can be given in the displayed words, and the log shows the same words", async () => {
  const { up, turn, answer, place } = await asking("in-words");
  const { stderr, status } = await answer("--answer", "always allow");
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^appr_.*: always allow\n$/)]);
  expect(await (await turn).json()).toMatchObject({ outcome: "completed" });
  const [show, audit] = await Promise.all(
    ["show", "audit"].map((verb) => command.run(["sessions", verb, "latest", ...place])),
  );
  expect(show?.stdout).toContain("  = always allow\n");
  expect(audit?.stdout).toContain(": always allow, answered");
  expect(`${show?.stdout}${audit?.stdout}`).not.toContain("allow-always");
  up.kill("SIGINT");
  await once(up, "exit");
});

it("An open approval of `up` is asked in a terminal, and refused if no process runs the session", async () => {
  const { up, turn, place, answer, listed } = await asking("asked");
  up.kill("SIGKILL");
  await once(up, "exit");
  await turn.catch(() => undefined);
  const nobody = await answer("--allow");
  expect([nobody.status, nobody.stderr]).toEqual([1, expect.stringContaining("No process runs")]);
  const again = command.start(["up", "--port", "0", "--json", ...place]);
  await waitForOutput(again.stdout, "}\n");
  const child = command.start(["sessions", "answer", "latest", ...place], { isTerminal: true });
  expect(await waitForOutput(child.stderr, "[y/N]")).toContain("── Spanline asks ──");
  const rest = text(child.stderr);
  child.stdin.write("n\n");
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(await rest).toContain(`${listed.split(" ")[0]} (save_note): deny`);
  again.kill("SIGINT");
  await once(again, "exit");
});

it("Ctrl-C at the question of `sessions delete` deletes nothing and exits with 130", async () => {
  const { up, place } = await asking("deleted");
  const child = command.start(["sessions", "delete", "latest", ...place], { isTerminal: true });
  await waitForOutput(child.stderr, "[y/N]");
  child.stdin.write("\u0003");
  expect(await once(child, "exit")).toEqual([130, null]);
  expect((await command.run(["sessions", "show", "latest", ...place])).status).toBe(0);
  up.kill("SIGINT");
  await once(up, "exit");
});
