import {
  hasNoClientTools,
  NO_SKILLS,
  type ClientMcpServer,
  type ClientTools,
  type EditorCapabilities,
} from "../../../domain/client-tools.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { STOCK_CLIENT } from "../../../wire/acp/decode/client-profile.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** The client tools of a connection in a session. */
export interface ConnectionClientTools {
  /** Replaces the MCP servers and refreshes the tools of the client's machine. Default: the same servers as before. */
  readonly set: (servers?: readonly ClientMcpServer[]) => Promise<void>;
  /** Sets the same client tools again, because the client was attached under another id or attached again. */
  readonly resend: () => Promise<void>;
  /** Sets the changed skills of the client's machine. During a turn, the end of the turn does so. */
  readonly refreshSkills: () => Promise<void>;
  /** Handles an event of the session, in log order and before the client was sent its updates. */
  readonly handleEvent: (envelope: Envelope) => void;
  /** Called when the client was sent the updates of the last event, and of every earlier event. */
  readonly handleSentEvent: () => void;
}

export function createConnectionClientTools(
  sessionId: string,
  link: ClientLink,
): ConnectionClientTools {
  const { sessions, log } = link;
  let servers: readonly ClientMcpServer[] = [];
  /** The client id under which tools were set. Undefined if the session has none from this connection. */
  let setAsClientId: string | undefined;
  let skillsVersion = 0;
  let refreshing: Promise<void> | undefined;
  let isInTurn = false;
  /** False while the feed sends old events. */
  let isUpToDate = true;

  const set: ConnectionClientTools["set"] = async (newServers = servers) => {
    servers = newServers;
    const machineTools = await readMachineTools(link);
    skillsVersion = link.getSkillsVersion();
    const skills = await link.getHostSkills();
    const clientTools = { ...machineTools, servers, ...(skills !== NO_SKILLS && { skills }) };
    const hasTools = !hasNoClientTools(clientTools);
    if (!hasTools && setAsClientId !== link.sender.clientId) return;
    const reply = await sessions.setClientTools(sessionId, clientTools, link.sender);
    if (reply.status === "refused") {
      return log("client tools were refused", { sessionId, ...reply.failure });
    }
    setAsClientId = hasTools ? link.sender.clientId : undefined;
    for (const { code, message } of reply.problems) {
      log("a client tool cannot be used", { sessionId, code, message });
    }
  };

  function refreshSkills(): Promise<void> {
    if (refreshing !== undefined) return refreshing;
    const isChanged = skillsVersion !== link.getSkillsVersion();
    if (!isChanged || isInTurn || !isUpToDate) return Promise.resolve();
    refreshing = set()
      .catch((error: unknown) =>
        link.log("changed skills of a host cannot be used", { sessionId, error: String(error) }),
      )
      .finally(() => (refreshing = undefined));
    return refreshing;
  }

  return {
    set,
    resend: () => set(),
    refreshSkills,
    handleEvent({ event }) {
      isUpToDate = false;
      if (event.type === "turn.started") isInTurn = true;
      if (event.type === "turn.finished") isInTurn = false;
    },
    handleSentEvent() {
      isUpToDate = true;
      void refreshSkills();
    },
  };
}

/** The tools of the client's machine: those of its host, and the editor's features. */
async function readMachineTools(link: ClientLink): Promise<Omit<ClientTools, "servers">> {
  const editor = await readEditorOffer(link);
  const { tools, problems } = await link.getHostTools();
  return {
    tools,
    ...(problems.length > 0 && { toolProblems: problems }),
    ...(link.getProfile().recognizesToolCalls && { recognizesToolCalls: true }),
    ...omitUndefined({ editor }),
  };
}

/** The editor's features for workspace tools: its files and terminals if it runs on this machine, and its shells. */
async function readEditorOffer(link: ClientLink): Promise<EditorCapabilities | undefined> {
  if (!link.sender.principal.rights.includes("control")) return undefined;
  const { readsFiles, writesFiles, runsTerminals } = link.isSameMachine
    ? link.getProfile()
    : STOCK_CLIENT;
  const shells = await link.getHostShells();
  if (!readsFiles && !writesFiles && !runsTerminals && shells === undefined) return undefined;
  return { readsFiles, writesFiles, runsTerminals, ...omitUndefined({ shells }) };
}
