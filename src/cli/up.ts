import { runUp, type Up } from "../bridge/run-up.ts";
import { oneLine } from "../inspect/style.ts";
import { ownCommand } from "./own-command.ts";
import { shellWord } from "./shell-word.ts";
import { untilStopped, type BridgeFlags } from "./until-stopped.ts";

export interface UpFlags extends BridgeFlags {
  readonly json?: true;
  readonly newToken?: true;
}

/** Runs the bridge until it is told to stop; returns the exit code. */
export function upCommand(flags: UpFlags): Promise<number> {
  return untilStopped(flags, {
    start: (options) =>
      runUp({ ...options, newToken: flags.newToken === true, workingDirectory: process.cwd() }),
    said: (up, directory) =>
      flags.json === true ? asJson(up, directory) : asText(up, directory, flags),
  });
}

function asText(up: Up, directory: string, { dataDir }: UpFlags): string {
  const { link, elsewhere, isOwner, ownerPid, config, session } = up;
  const where = dataDir === undefined ? "" : ` --data-dir ${shellWord(directory)}`;
  const which = `--session ${shellWord(session.sessionId)}${where}`;
  const begun = isOwner ? "Spanline is up" : `Joined the bridge that runs in process ${ownerPid}`;
  const told = [
    config === undefined
      ? "Saving a note asks for your approval, in all but curl."
      : "A question waits for an answer in any of them but curl.",
    ...(isOwner ? ["Kill this process while it works and start it again: the turn goes on."] : []),
    ...(elsewhere.length === 0 ? [] : [`Other machines reach it at ${elsewhere.join(", ")}.`]),
    `Sessions are kept in ${directory}.`,
  ];
  return `${begun}. One session, four ways into it:

  In a browser    ${link}
  With curl       ${curl(up)}
  In a terminal   ${ownCommand()} chat ${which}
  In an editor    ${ownCommand()} acp ${which}
${agentsText(up)}
${told.join("\n")}

Ctrl-C stops it.
`;
}

function curl({ url, session, config, needsKey, token }: Up): string {
  const input = config === undefined ? "Please save a note: buy milk" : "Hello";
  const body = JSON.stringify({ conversation: session.sessionId, input, stream: true });
  const key = needsKey ? ` -H 'authorization: Bearer ${token}'` : "";
  return [
    `curl -N ${url}/v1/responses \\`,
    `                    -H 'content-type: application/json'${key} \\`,
    `                    -d '${body}'`,
  ].join("\n");
}

/** Empty for the demo agent, of which there is nothing to say. */
function agentsText({ config, agents, session }: Up): string {
  if (config === undefined) return "";
  const others = agents.filter((name) => name !== session.agent);
  const more = others.length === 0 ? "" : `; there is also ${others.join(", ")}`;
  return `\nIt is with ${session.agent}${more}. Agents come from ${oneLine(config)}.\n`;
}

function asJson({ session, ...up }: Up, directory: string): string {
  const { sessionId } = session;
  const { url, link, isOwner, ownerPid, config = null, agents } = up;
  const facts = { url, link, sessionId, isOwner, ownerPid, directory, config, agents };
  return `${JSON.stringify(facts)}\n`;
}
