import { serveBridge, type ServedBridge } from "../bridge/serve/serve-bridge.ts";
import { oneLine } from "../inspect/style.ts";
import { untilStopped, type BridgeFlags } from "./until-stopped.ts";

export interface ServeFlags extends BridgeFlags {
  readonly json?: true;
}

/** Serves agents to clients of OpenAI until it is told to stop; returns the exit code. */
export function serveCommand(flags: ServeFlags): Promise<number> {
  return untilStopped(flags, {
    start: (options) => serveBridge(options, { portal: false }),
    said: (served, directory) =>
      flags.json === true ? asJson(served, directory) : asText(served, directory),
  });
}

function asText(served: ServedBridge, directory: string): string {
  const { url, elsewhere, agents, isOwner, ownerPid, config, needsKey } = served;
  const [first = ""] = agents;
  const key = needsKey ? ` -H "authorization: Bearer $KEY"` : "";
  const body = JSON.stringify({ model: first, input: "Hello!", stream: true });
  const told = [
    ...(elsewhere.length === 0
      ? []
      : [`Other machines reach them at ${elsewhere.map((one) => `${one}/v1`).join(", ")}.`]),
    `Agents come from ${config === undefined ? "the demo" : oneLine(config)}: ${agents.join(", ")}.`,
    ...(isOwner ? [] : [`Process ${ownerPid} runs the sessions.`]),
    `Sessions are kept in ${directory}.`,
  ];
  return `Agents are served at ${url}/v1, as models:

  With curl                   curl -N ${url}/v1/responses -H 'content-type: application/json'${key} \\
                                -d '${body}'
  With a client of OpenAI's   OPENAI_BASE_URL=${url}/v1 OPENAI_API_KEY=${needsKey ? "$KEY" : "none"}

${told.join("\n")}

Ctrl-C stops it.
`;
}

function asJson(served: ServedBridge, directory: string): string {
  const { url, elsewhere, isOwner, ownerPid, config = null, agents, needsKey } = served;
  return `${JSON.stringify({ url, elsewhere, isOwner, ownerPid, directory, config, agents, needsKey })}\n`;
}
