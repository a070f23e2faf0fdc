import {
  hasNoClientTools,
  type ClientMcpServer,
  type EditorCapabilities,
} from "../../../domain/client-tools.ts";
import { STOCK_CLIENT } from "../../../wire/acp/decode/client-profile.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** What the client of a connection brings to one session. */
export interface ConnectionClientTools {
  /** These servers in place of those before, or the same as before; and the tools of its machine. */
  readonly set: (servers?: readonly ClientMcpServer[]) => Promise<void>;
  /** The client comes under another name, or for the first time again. */
  readonly resend: () => Promise<void>;
}

export function createConnectionClientTools(
  sessionId: string,
  link: ClientLink,
): ConnectionClientTools {
  const { sessions, log } = link;
  let servers: readonly ClientMcpServer[] = [];
  /** Under the name that the client had when it brought something. */
  let setAsClientId: string | undefined;

  const set: ConnectionClientTools["set"] = async (newServers = servers) => {
    servers = newServers;
    const editor = await readEditorOffer(link);
    const { tools, problems } = await link.getHostTools();
    const clientTools = {
      servers,
      tools,
      ...(problems.length > 0 && { toolProblems: problems }),
      ...(link.getProfile().recognizesToolCalls && { recognizesToolCalls: true }),
      ...omitUndefined({ editor }),
    };
    const hasTools = !hasNoClientTools(clientTools);
    if (!hasTools && setAsClientId !== link.sender.clientId) return;
    const reply = await sessions.setClientTools(sessionId, clientTools, link.sender);
    if (reply.status === "refused") {
      return log("what a client brings was refused", { sessionId, ...reply.failure });
    }
    setAsClientId = hasTools ? link.sender.clientId : undefined;
    for (const { code, message } of reply.problems) {
      log("something that a client brings cannot be used", { sessionId, code, message });
    }
  };
  return { set, resend: () => set() };
}

/** What the client's editor does for the tools of a workspace: its files, if they are this machine's, and its shells. */
async function readEditorOffer(link: ClientLink): Promise<EditorCapabilities | undefined> {
  if (!link.sender.principal.rights.includes("control")) return undefined;
  const { readsFiles, writesFiles, runsTerminals } = link.isSameMachine
    ? link.getProfile()
    : STOCK_CLIENT;
  const shells = await link.getHostShells();
  if (!readsFiles && !writesFiles && !runsTerminals && shells === undefined) return undefined;
  return { readsFiles, writesFiles, runsTerminals, ...omitUndefined({ shells }) };
}
