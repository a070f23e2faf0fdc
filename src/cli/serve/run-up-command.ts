import { runUp, type UpBridge } from "../../bridge/serve/run-up.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { resolveProgramName } from "../shared/program-name.ts";
import { quoteShellWord } from "../shared/terminal/shell-word.ts";
import { runUntilSignal, type BridgeFlags } from "./run-until-signal.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface UpFlags extends BridgeFlags {
  readonly json?: true;
  readonly newToken?: true;
}

/** Runs the bridge with the portal until SIGINT or SIGTERM. Returns the exit code. */
export function runUpCommand(flags: UpFlags, io: CommandIo): Promise<number> {
  return runUntilSignal(flags, {
    io,
    start: (options) =>
      runUp({ ...options, newToken: flags.newToken === true, workingDirectory: io.cwd }),
    formatStarted: (up, directory) =>
      flags.json === true
        ? formatJson(up, directory)
        : formatText(up, directory, { ...flags, program: resolveProgramName(io) }),
  });
}

function formatText(
  up: UpBridge,
  directory: string,
  { dataDir, program }: UpFlags & { readonly program: string },
): string {
  const { link, url, otherUrls, isOwner, ownerPid, config, session, portalPid } = up;
  const where = dataDir === undefined ? "" : ` --data-dir ${quoteShellWord(directory)}`;
  const which = `--session ${quoteShellWord(session.sessionId)}${where}`;
  const lines = [
    config === undefined
      ? "Saving a note needs your approval: decide in the browser, the terminal or the editor."
      : "Decide approvals in the browser, the terminal or the editor.",
    ...(isOwner
      ? [`Kill this process (${ownerPid}) during a turn and start it again: the turn continues.`]
      : []),
    ...(otherUrls.length === 0 ? [] : [`Other machines reach it at ${otherUrls.join(", ")}.`]),
    `Sessions are kept in ${directory}.`,
  ];
  return `${formatHeadline(up)}. One session, five ways into it:

  In a browser    ${link}
  With curl       ${formatCurl(up)}
  In a terminal   ${program} chat ${which}
  In an editor    ${program} acp ${which}
  From an agent   ${url}/a2a (A2A, contextId ${session.sessionId})
${formatAgents(up)}
${lines.join("\n")}
${portalPid === undefined ? "\nCtrl-C stops it.\n" : ""}`;
}

function formatHeadline({ isOwner, ownerPid, portalPid }: UpBridge): string {
  if (portalPid !== undefined) return `Spanline is already up, in process ${portalPid}`;
  return isOwner ? "Spanline is up" : `Joined the bridge that runs in process ${ownerPid}`;
}

function formatCurl({ url, session, config, needsKey, token }: UpBridge): string {
  const input = config === undefined ? "Please save a note: buy milk" : "Hello";
  const body = JSON.stringify({ conversation: session.sessionId, input, stream: true });
  const key = needsKey ? ` -H 'authorization: Bearer ${token}'` : "";
  return [
    `curl -N ${url}/v1/responses \\`,
    `                    -H 'content-type: application/json'${key} \\`,
    `                    -d '${body}'`,
  ].join("\n");
}

/** Lists the agents of the configuration. Empty for the demo agent. */
function formatAgents({ config, agents, session }: UpBridge): string {
  if (config === undefined) return "";
  const otherAgents = agents.filter((name) => name !== session.agent);
  const otherAgentsText =
    otherAgents.length === 0 ? "" : `; other agents: ${otherAgents.join(", ")}`;
  return `\nThe agent of the session is ${session.agent}${otherAgentsText}. Agents come from ${toSingleLine(config)}.\n`;
}

function formatJson({ session, ...up }: UpBridge, directory: string): string {
  const { sessionId } = session;
  const { url, link, isOwner, ownerPid, portalPid = null, config = null, agents } = up;
  const facts = { url, link, sessionId, isOwner, ownerPid, portalPid, directory, config, agents };
  return `${JSON.stringify(facts)}\n`;
}
