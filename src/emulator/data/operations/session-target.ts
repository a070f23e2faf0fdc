import { ServiceError, type EmulatorRequest } from "../../service/service-types.ts";
import type { Constraints } from "../../service/constraints.ts";
import type { DataPlane, RuntimeRecord } from "../data-plane.ts";
import { QUALIFIER_RULE, SESSION_HEADER, SESSION_ID_RULE } from "./harness-invocation.ts";
import type { SessionOwner } from "../session/service-session.ts";

/** The session addressed by a request under `/runtimes/{arn}`. */
export interface SessionTarget {
  readonly arn: string;
  readonly qualifier: string | undefined;
  /** Undefined if the client lets the service choose an id. */
  readonly sessionId: string | undefined;
}

/** Reads the common parameters of these requests. The caller must call `throwIfInvalid` after its own checks. */
export function readSessionTarget(
  request: EmulatorRequest,
  agentParam: string | undefined,
  constraints: Constraints,
): SessionTarget {
  const qualifier = request.query.get("qualifier") ?? undefined;
  if (qualifier !== undefined) constraints.readText("qualifier", qualifier, QUALIFIER_RULE);
  const sessionId = request.headers[SESSION_HEADER];
  if (sessionId !== undefined) {
    constraints.readText("runtimeSessionId", sessionId, { ...SESSION_ID_RULE, max: 256 });
  }
  const arn = constraints.readText("agentRuntimeArn", agentParam, { min: 1, max: 2048 });
  return { arn: resolveAgentArn(arn, request, constraints), qualifier, sessionId };
}

/** The path may contain only the agent's id, with the account in the query. */
function resolveAgentArn(
  agentParam: string,
  request: EmulatorRequest,
  constraints: Constraints,
): string {
  const account = request.query.get("accountId");
  if (account !== null) constraints.readText("accountId", account, { pattern: "[0-9]{12}" });
  return agentParam.startsWith("arn:") || account === null
    ? agentParam
    : `:${account}:runtime/${agentParam}`;
}

export interface EmulatedAgent extends SessionOwner {
  readonly environment: { readonly [name: string]: string };
}

/** Finds a runtime or a harness. Like the service, treats a harness as a runtime. */
export function findAgent(plane: DataPlane, { arn, qualifier }: SessionTarget): EmulatedAgent {
  const runtime = findRuntime(plane, arn);
  if (runtime !== undefined) {
    return {
      arn: runtime.arn,
      lifecycle: runtime.lifecycle,
      hasMemory: false,
      environment: runtime.environment ?? {},
    };
  }
  const harness = plane.harnesses.findHarness(arn, qualifier, plane.clock.now());
  if (harness === undefined) throw createUnknownAgentError(arn, qualifier);
  return {
    arn: harness.arn,
    lifecycle: harness.lifecycle,
    hasMemory: harness.memory !== null,
    environment: harness.environmentVariables,
  };
}

export function findRuntime({ runtimes }: DataPlane, arn: string): RuntimeRecord | undefined {
  return runtimes.find(
    (runtime) => runtime.arn === arn || (arn.startsWith(":") && runtime.arn.endsWith(arn)),
  );
}

export function createUnknownAgentError(arn: string, qualifier: string | undefined): ServiceError {
  const message = `No endpoint or agent found with qualifier '${qualifier ?? "DEFAULT"}' for agent '${arn}'`;
  return new ServiceError(404, "ResourceNotFoundException", message);
}
