import {
  NO_HOST_TOOLS,
  NO_SKILLS,
  type ClientSkillList,
  type HostToolList,
} from "../../../domain/client-tools.ts";
import type { ShellList } from "../../../domain/tools/shell.ts";
import type { HostReply } from "../../../wire/acp/host/host-reply.ts";
import { encodeToolListRequest, type HostRequest } from "../../../wire/acp/host/host-request.ts";
import { readToolList } from "../../../wire/acp/host/host-tool-list.ts";
import { readShellList } from "../../../wire/acp/host/shell-replies.ts";
import { encodeListShellsRequest } from "../../../wire/acp/host/shell-requests.ts";
import { encodeSkillListRequest, readSkillList } from "../../../wire/acp/host/skill-replies.ts";
import { RPC_CODES } from "../../../wire/jsonrpc/rpc-error.ts";
import type { RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";

type HostLink = Pick<ClientLink, "sendRequest" | "withdrawRequest" | "clock" | "log">;

/** Requests a host's tools, once. */
export async function requestHostTools(link: HostLink): Promise<HostToolList> {
  return (await requestList(link, TOOLS_LIST)) ?? NO_HOST_TOOLS;
}

/** Requests a host's shells, once. Undefined if the host does not list any. */
export function requestHostShells(link: HostLink): Promise<ShellList | undefined> {
  return requestList(link, SHELLS_LIST);
}

/** Requests a host's skills, once. Undefined if the host does not return a list in time, or returns an error. */
export function requestHostSkills(link: HostLink): Promise<ClientSkillList | undefined> {
  return requestList(link, SKILLS_LIST);
}

interface HostList<Value> {
  readonly label: string;
  readonly request: HostRequest;
  readonly read: (answer: RpcResponse) => HostReply<Value>;
  /** The list of a host without the method. */
  readonly empty?: Value;
}

const TOOLS_LIST: HostList<HostToolList> = {
  label: "tools",
  request: encodeToolListRequest(),
  read: readToolList,
};
const SHELLS_LIST: HostList<ShellList> = {
  label: "shells",
  request: encodeListShellsRequest(),
  read: readShellList,
};
const SKILLS_LIST: HostList<ClientSkillList> = {
  label: "skills",
  request: encodeSkillListRequest(),
  read: readSkillList,
  empty: NO_SKILLS,
};

/** Requests a list with a timeout. A host that does not respond in time counts as a host without the list. */
function requestList<Value>(
  { sendRequest, withdrawRequest, clock, log }: HostLink,
  { label, request: listRequest, read, empty }: HostList<Value>,
): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const handleResponse = async (answer: RpcResponse): Promise<void> => {
      callOff();
      // A host of the bridge protocol without tools, shells or skills need not implement the method.
      if (!answer.ok && answer.error.code === RPC_CODES.methodNotFound) return resolve(empty);
      const list = read(answer);
      if (list.type === "failed") log(`a host's ${label} cannot be used`, { ...list.failure });
      if (list.type === "unsupported") return resolve(empty);
      resolve(list.type === "answered" ? list.value : undefined);
    };
    const requestKey = sendRequest(listRequest, handleResponse);
    const callOff = clock.schedule(LIST_TIMEOUT_MS, () => {
      if (requestKey !== undefined) withdrawRequest(requestKey);
      log(`a host did not return its ${label} in time; continuing without the list`);
      resolve(undefined);
    });
  });
}

/** Long enough for a host on a loaded machine: a host that supports the lists loses its tools after this time. */
const LIST_TIMEOUT_MS = 5000;
