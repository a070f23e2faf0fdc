import { join } from "node:path";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { HarnessRegistry } from "../control/registry.ts";
import { ServiceError, type Route } from "../exchange.ts";
import { recorded } from "../recorded.ts";
import type { Switches } from "../switches.ts";
import type { BrainFinder, Commands, DataPlane, RuntimeRecord } from "./data-plane.ts";
import { invokeAgentRuntimeCommand } from "./invoke-command.ts";
import { invokeHarness } from "./invoke-harness.ts";
import { invokeAgentRuntime } from "./invoke-runtime.ts";
import { sessions } from "./sessions.ts";
import { stopRuntimeSession } from "./stop-session.ts";

export interface DataPlaneOptions {
  readonly harnesses: HarnessRegistry;
  readonly runtimes?: readonly RuntimeRecord[];
  readonly brains: BrainFinder;
  readonly switches: Switches;
  readonly clock: Clock;
  /** Absent: sessions last as long as the process. */
  readonly dataDirectory?: string;
  readonly commands?: Commands;
  /** A folder that gets a recording of every streamed answer. */
  readonly recordings?: string;
  /** Told of what fails here without a client being told. */
  readonly onBug?: (error: unknown) => void;
}

export interface DataRoutes {
  readonly routes: readonly Route[];
  /** Ends what the handlers left running and removes what was only for this process. */
  close(): Promise<void>;
}

/** The operations on sessions: invoking harnesses and agents, running commands, stopping. */
export function dataRoutes(options: DataPlaneOptions): DataRoutes {
  const { clock, switches, dataDirectory, recordings } = options;
  const plane: DataPlane = {
    harnesses: options.harnesses,
    runtimes: options.runtimes ?? [],
    brains: options.brains,
    switches,
    clock,
    commands: options.commands ?? "refuse",
    sessions: sessions({
      clock,
      switches,
      ...(dataDirectory === undefined ? {} : { dataDirectory }),
    }),
  };
  const routes = [
    invokeHarness(plane),
    invokeAgentRuntime(plane),
    invokeAgentRuntimeCommand(plane),
    stopRuntimeSession(plane),
  ];
  const served = routes.map(sayingWhatIsWrong);
  return {
    routes: recordings === undefined ? served : recordedRoutes(served, recordings, options),
    close: () => plane.sessions.close(),
  };
}

/** A script or a setting that cannot be used is told to the client: its user wrote it. */
function sayingWhatIsWrong(route: Route): Route {
  return {
    ...route,
    async handle(request, labels) {
      try {
        return await route.handle(request, labels);
      } catch (error) {
        if (!(error instanceof SpanlineError)) throw error;
        throw new ServiceError(424, "RuntimeClientError", error.message);
      }
    },
  };
}

function recordedRoutes(
  routes: readonly Route[],
  folder: string,
  { clock, onBug = () => {} }: DataPlaneOptions,
): Route[] {
  const failed = saidOnce(folder, onBug);
  return routes.map((route) => recording(route, { folder, clock, failed }));
}

interface Recorder {
  readonly folder: string;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}

function recording(route: Route, { folder, clock, failed }: Recorder): Route {
  return {
    ...route,
    async handle(request, labels) {
      const outgoing = await route.handle(request, labels);
      const path = join(folder, `${request.requestId}.jsonl`);
      return recorded(outgoing, { path, clock, gone: request.gone, failed });
    },
  };
}

/** A disk that is full stays so: one word about it is enough. */
function saidOnce(folder: string, say: (error: Error) => void): (error: unknown) => void {
  let isSaid = false;
  return (cause) => {
    if (isSaid) return;
    isSaid = true;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Cannot write a recording in ${folder}: ${reason}. Answers go on, and some are not recorded`;
    say(new Error(message, { cause }));
  };
}
