import { serveBridge, type ServedBridge } from "../../bridge/serve/serve-bridge.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { runUntilSignal, type BridgeFlags } from "./run-until-signal.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ServeFlags extends BridgeFlags {
  readonly json?: true;
}

/** Serves agents to OpenAI clients until SIGINT or SIGTERM. Returns the exit code. */
export function runServeCommand(flags: ServeFlags, io: CommandIo): Promise<number> {
  return runUntilSignal(flags, {
    io,
    start: (options) => serveBridge(options, { portal: false }),
    formatStarted: (served, directory) =>
      flags.json === true ? formatJson(served, directory) : formatText(served, directory),
  });
}

function formatText(served: ServedBridge, directory: string): string {
  const { url, otherUrls, agents, isOwner, ownerPid, config, needsKey } = served;
  const [first = ""] = agents;
  const key = needsKey ? ` -H "authorization: Bearer $KEY"` : "";
  const body = JSON.stringify({ model: first, input: "Hello!", stream: true });
  const lines = [
    ...(otherUrls.length === 0
      ? []
      : [
          `Other machines reach them at ${otherUrls.map((address) => `${address}/v1`).join(", ")}.`,
        ]),
    `Agents come from ${config === undefined ? "the demo" : toSingleLine(config)}: ${agents.join(", ")}.`,
    ...(isOwner ? [] : [`Process ${ownerPid} runs the sessions.`]),
    `Sessions are kept in ${directory}.`,
  ];
  return `Agents are served at ${url}/v1, as models:

  With curl                   curl -N ${url}/v1/responses -H 'content-type: application/json'${key} \\
                                -d '${body}'
  With an OpenAI client       OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${needsKey ? "$KEY" : "none"}

${lines.join("\n")}

Ctrl-C stops it.
`;
}

function formatJson(served: ServedBridge, directory: string): string {
  const { url, otherUrls: elsewhere, isOwner, ownerPid, config = null, agents, needsKey } = served;
  return `${JSON.stringify({ url, elsewhere, isOwner, ownerPid, directory, config, agents, needsKey })}\n`;
}
