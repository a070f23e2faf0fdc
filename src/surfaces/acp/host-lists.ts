import { NO_HOST_TOOLS, type HostToolList } from "../../domain/equipment.ts";
import type { KnownShells } from "../../domain/shell.ts";
import type { HostAnswer } from "../../wire/acp/host/host-answer.ts";
import { toolListRequest, type HostRequest } from "../../wire/acp/host/host-request.ts";
import { readToolList } from "../../wire/acp/host/host-tools.ts";
import { readShellList } from "../../wire/acp/host/shell-answers.ts";
import { listShellsRequest } from "../../wire/acp/host/shell-requests.ts";
import { RPC_CODES } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";

type Asking = Pick<ClientLink, "request" | "withdraw" | "clock" | "log">;

/** Asks a host for its tools, once. */
export async function hostToolList(link: Asking): Promise<HostToolList> {
  return (await asked(link, TOOLS)) ?? NO_HOST_TOOLS;
}

/** The same for its shells. */
export function hostShells(link: Asking): Promise<KnownShells | undefined> {
  return asked(link, SHELLS);
}

interface List<Value> {
  readonly what: string;
  readonly request: HostRequest;
  readonly read: (answer: RpcAnswer) => HostAnswer<Value>;
}

const TOOLS: List<HostToolList> = {
  what: "tools",
  request: toolListRequest(),
  read: readToolList,
};
const SHELLS: List<KnownShells> = {
  what: "shells",
  request: listShellsRequest(),
  read: readShellList,
};

/** Nobody waits long for a host that does not answer: then it has none. */
function asked<Value>(
  { request, withdraw, clock, log }: Asking,
  { what, request: wanted, read }: List<Value>,
): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const answered = async (answer: RpcAnswer): Promise<void> => {
      callOff();
      // A host of the bridge protocol may have none, and no method for it.
      if (!answer.ok && answer.error.code === RPC_CODES.methodNotFound) return resolve(undefined);
      const list = read(answer);
      if (list.type === "failed") log(`a host's ${what} cannot be used`, { ...list.failure });
      resolve(list.type === "answered" ? list.value : undefined);
    };
    const questionId = request(wanted, answered);
    const callOff = clock.after(PATIENCE_MS, () => {
      if (questionId !== undefined) withdraw(questionId);
      log(`a host did not say which ${what} it has; it is taken to have none`);
      resolve(undefined);
    });
  });
}

const PATIENCE_MS = 2000;
