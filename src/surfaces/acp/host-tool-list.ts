import type { HostTool } from "../../domain/equipment.ts";
import type { Clock } from "../../platform/clock.ts";
import { toolListRequest } from "../../wire/acp/host/host-request.ts";
import { readToolList } from "../../wire/acp/host/host-tools.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";

type Asking = Pick<ClientLink, "request" | "withdraw" | "log">;

/** Asks a host for its tools, once. Nobody waits long for a host that does not answer: then it has none. */
export function hostToolList(
  { request, withdraw, log }: Asking,
  clock: Clock,
): Promise<readonly HostTool[]> {
  return new Promise((resolve) => {
    const answered = async (answer: RpcAnswer): Promise<void> => {
      callOff();
      const list = readToolList(answer);
      if (list.type === "failed") log("a host's tools cannot be used", { ...list.failure });
      resolve(list.type === "answered" ? list.value : []);
    };
    const questionId = request(toolListRequest(), answered);
    const callOff = clock.after(PATIENCE_MS, () => {
      if (questionId !== undefined) withdraw(questionId);
      log("a host did not say which tools it has; it is taken to have none");
      resolve([]);
    });
  });
}

const PATIENCE_MS = 2000;
