import type { Failure } from "../../domain/errors.ts";
import { internalError, RPC_CODES, type RpcError } from "../jsonrpc/rpc-error.ts";
import { harnCapabilities } from "./extensions.ts";

/** The one wire version that we speak, whatever the client asks for: it may leave when it does not. */
const PROTOCOL_VERSION = 1;

export function initializeAnswer(version: string): unknown {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "spanline", title: "Spanline", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
      sessionCapabilities: {},
      _meta: harnCapabilities(),
    },
    authMethods: [],
  };
}

export function newSessionAnswer(sessionId: string): unknown {
  return { sessionId };
}

export function loadAnswer(): unknown {
  return {};
}

/** ACP's own code for what is not there. */
const RESOURCE_NOT_FOUND = -32002;

/** A failure as the answer to a request. */
export function failureError(failure: Failure): RpcError {
  const { code, message } = failure;
  const data = failureData(failure);
  if (code === "not_found") return { code: RESOURCE_NOT_FOUND, message, data };
  if (code === "invalid_message" || code === "invalid_option" || code === "validation_failed") {
    return { code: RPC_CODES.invalidParams, message, data };
  }
  return internalError(message, data);
}

/** What programs branch on. */
export function failureData({ code, message, details }: Failure): unknown {
  return { ...details, code, message };
}
