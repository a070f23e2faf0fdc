import type { ErrorAnswer } from "../domain/error-answer.ts";
import { SpanlineError } from "../domain/errors.ts";
import { systemClock, type Clock, type SteadyClock } from "../platform/clock.ts";
import { httpClient, type HttpRequest, type SendHttp } from "../platform/http-client.ts";
import { bearing } from "../remote/bearing.ts";
import type { ServiceAnswer } from "../remote/once-caller.ts";
import { awsCaller } from "./aws-caller.ts";
import {
  chainedCredentials,
  keptCredentials,
  type Credentials,
  type CredentialSource,
} from "./credentials.ts";
import { AGENTCORE_SERVICE, agentCoreEndpoint, type Place, type Plane } from "./endpoints.ts";
import { signedBy, type Authorize } from "./sign.ts";

/** How to reach AgentCore, and as whom. */
export interface ConnectionOptions {
  /** In place of the service's own hosts: one address for both planes, or one for each. */
  readonly endpoint?: string | { readonly [plane in Plane]?: string };
  /** Where there are none, the standard AWS chain is asked. */
  readonly credentials?: Credentials | CredentialSource;
  /** A profile of the shared AWS files, for that chain. */
  readonly profile?: string;
  /** A token, in place of a signature, for an agent behind a JWT authorizer. */
  readonly bearerToken?: string | (() => Promise<string>);
  readonly send?: SendHttp;
  readonly clock?: SteadyClock;
}

/** A request without the host it goes to. */
export interface ServiceRequest extends Omit<HttpRequest, "url"> {
  readonly path: string;
  readonly query: { readonly [name: string]: string };
}

export interface AgentCore {
  readonly clock: SteadyClock;
  /** Where each plane is. */
  readonly addresses: { readonly [plane in Plane]: URL };
  /** Rejects where there is nothing to authorize a call with. */
  ready(): Promise<void>;
  /** Makes one call, once, and resolves with an answer that is a success. */
  call(plane: Plane, request: ServiceRequest, signal: AbortSignal): Promise<ServiceAnswer>;
}

export function agentCore(
  place: Place,
  errorFor: (answer: ErrorAnswer) => Error,
  options: ConnectionOptions = {},
): AgentCore {
  const { send = httpClient().send, clock = systemClock } = options;
  const addresses = {
    data: endpointFor("data", place, options),
    control: endpointFor("control", place, options),
  };
  const authorize = authorization(place, clock, options);
  const callers = {
    data: awsCaller({ send, authorize, clock, errorFor }),
    // Tokens are for agents; managing them takes a signature.
    control: awsCaller({ send, authorize: signature(place, clock, options), clock, errorFor }),
  };
  return {
    clock,
    addresses,
    async ready() {
      const body = new Uint8Array();
      await authorize({ method: "GET", url: addresses.data, headers: {}, body }, clock.now());
    },
    call: (plane, { path, query, ...request }, signal) => {
      const url = new URL(addresses[plane]);
      // Put together as text, two slashes in a row would begin the name of another host.
      url.pathname = url.pathname.replace(/\/+$/, "") + path;
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return callers[plane]({ ...request, url }, signal);
    },
  };
}

function authorization(place: Place, clock: Clock, options: ConnectionOptions): Authorize {
  const { bearerToken } = options;
  if (bearerToken === undefined) return signature(place, clock, options);
  return bearing(
    typeof bearerToken === "string" ? () => Promise.resolve(bearerToken) : bearerToken,
  );
}

function signature(
  { region }: Place,
  clock: Clock,
  { credentials, profile }: ConnectionOptions,
): Authorize {
  const source =
    credentials === undefined
      ? chainedCredentials(profile === undefined ? {} : { profile })
      : typeof credentials === "function"
        ? keptCredentials(credentials, clock)
        : () => Promise.resolve(credentials);
  return signedBy({ credentials: source, region, service: AGENTCORE_SERVICE });
}

function endpointFor(plane: Plane, place: Place, { endpoint }: ConnectionOptions): URL {
  const given = typeof endpoint === "string" ? endpoint : endpoint?.[plane];
  if (given === undefined) return agentCoreEndpoint(plane, place);
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  const message = `endpoint is ${JSON.stringify(given)}, wanted an address such as http://127.0.0.1:4780`;
  throw new SpanlineError("invalid_option", message, { details: { path: "endpoint" } });
}
