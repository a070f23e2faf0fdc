import { ServiceError, type Incoming } from "../exchange.ts";
import type { Constraints } from "../constraints.ts";
import type { DataPlane, RuntimeRecord } from "./data-plane.ts";
import { QUALIFIER, SESSION_HEADER, SESSION_ID } from "./invocation.ts";
import type { SessionOwner } from "./session.ts";

/** Whose session a request under `/runtimes/{arn}` is about. */
export interface SessionTarget {
  readonly arn: string;
  readonly qualifier: string | undefined;
  /** Absent where the client left it to the service. */
  readonly sessionId: string | undefined;
}

/** Reads what such requests share. `check` is left to the caller, who may have more to say. */
export function readTarget(
  request: Incoming,
  label: string | undefined,
  constraints: Constraints,
): SessionTarget {
  const qualifier = request.query.get("qualifier") ?? undefined;
  if (qualifier !== undefined) constraints.text("qualifier", qualifier, QUALIFIER);
  const sessionId = request.headers[SESSION_HEADER];
  if (sessionId !== undefined) {
    constraints.text("runtimeSessionId", sessionId, { ...SESSION_ID, most: 256 });
  }
  const arn = constraints.text("agentRuntimeArn", label, { least: 1, most: 2048 });
  return { arn: fullArn(arn, request, constraints), qualifier, sessionId };
}

/** The path may hold the agent's id alone, with its account in the query. */
function fullArn(label: string, request: Incoming, constraints: Constraints): string {
  const account = request.query.get("accountId");
  if (account !== null) constraints.text("accountId", account, { pattern: "[0-9]{12}" });
  return label.startsWith("arn:") || account === null ? label : `:${account}:runtime/${label}`;
}

export interface Agent extends SessionOwner {
  readonly environment: { readonly [name: string]: string };
}

/** A harness is taken for a runtime here, as the service does. */
export function agentOf(plane: DataPlane, { arn, qualifier }: SessionTarget): Agent {
  const runtime = runtimeOf(plane, arn);
  if (runtime !== undefined) {
    return {
      arn: runtime.arn,
      lifecycle: runtime.lifecycle,
      hasMemory: false,
      environment: runtime.environment ?? {},
    };
  }
  const harness = plane.harnesses.findHarness(arn, qualifier, plane.clock.now());
  if (harness === undefined) throw unknownAgent(arn, qualifier);
  return {
    arn: harness.arn,
    lifecycle: harness.lifecycle,
    hasMemory: harness.memory !== null,
    environment: harness.environmentVariables,
  };
}

export function runtimeOf({ runtimes }: DataPlane, arn: string): RuntimeRecord | undefined {
  return runtimes.find(
    (runtime) => runtime.arn === arn || (arn.startsWith(":") && runtime.arn.endsWith(arn)),
  );
}

export function unknownAgent(arn: string, qualifier: string | undefined): ServiceError {
  const message = `No endpoint or agent found with qualifier '${qualifier ?? "DEFAULT"}' for agent '${arn}'`;
  return new ServiceError(404, "ResourceNotFoundException", message);
}
