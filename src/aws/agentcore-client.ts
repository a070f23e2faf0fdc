import type { ErrorResponse } from "../domain/provider/error-response.ts";
import { SpanlineError } from "../domain/errors.ts";
import { systemClock, type Clock, type SteadyClock } from "../platform/clock.ts";
import { createHttpClient, type HttpRequest, type SendHttp } from "../platform/http-client.ts";
import { createBearerAuth } from "../remote/bearer-auth.ts";
import type { ServiceResponse } from "../remote/single-attempt-client.ts";
import { createAwsClient } from "./aws-client.ts";
import {
  createCredentialChain,
  cacheCredentials,
  type Credentials,
  type CredentialSource,
} from "./credentials.ts";
import {
  AGENTCORE_SERVICE,
  resolveAgentCoreEndpoint,
  type AwsLocation,
  type Plane,
} from "./endpoints.ts";
import { createSigner, type Authorize } from "./signer.ts";

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

export interface AgentCoreClient {
  readonly clock: SteadyClock;
  /** Where each plane is. */
  readonly addresses: { readonly [plane in Plane]: URL };
  /** Rejects where there is nothing to authorize a call with. */
  checkCredentials(): Promise<void>;
  /** Makes one call, once, and resolves with an answer that is a success. */
  send(plane: Plane, request: ServiceRequest, signal: AbortSignal): Promise<ServiceResponse>;
}

export function createAgentCoreClient(
  location: AwsLocation,
  toError: (response: ErrorResponse) => Error,
  options: ConnectionOptions = {},
): AgentCoreClient {
  const { send = createHttpClient().send, clock = systemClock } = options;
  const addresses = {
    data: resolveEndpoint("data", location, options),
    control: resolveEndpoint("control", location, options),
  };
  const authorize = createAuthorizer(location, clock, options);
  const clients = {
    data: createAwsClient({ send, authorize, clock, toError }),
    // Tokens are for agents; managing them takes a signature.
    control: createAwsClient({
      send,
      authorize: createServiceSigner(location, clock, options),
      clock,
      toError,
    }),
  };
  return {
    clock,
    addresses,
    async checkCredentials() {
      const body = new Uint8Array();
      await authorize({ method: "GET", url: addresses.data, headers: {}, body }, clock.now());
    },
    send: (plane, { path, query, ...request }, signal) => {
      const url = new URL(addresses[plane]);
      // Put together as text, two slashes in a row would begin the name of another host.
      url.pathname = url.pathname.replace(/\/+$/, "") + path;
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return clients[plane]({ ...request, url }, signal);
    },
  };
}

function createAuthorizer(
  location: AwsLocation,
  clock: Clock,
  options: ConnectionOptions,
): Authorize {
  const { bearerToken } = options;
  if (bearerToken === undefined) return createServiceSigner(location, clock, options);
  return createBearerAuth(
    typeof bearerToken === "string" ? () => Promise.resolve(bearerToken) : bearerToken,
  );
}

function createServiceSigner(
  { region }: AwsLocation,
  clock: Clock,
  { credentials, profile }: ConnectionOptions,
): Authorize {
  const source =
    credentials === undefined
      ? createCredentialChain(profile === undefined ? {} : { profile })
      : typeof credentials === "function"
        ? cacheCredentials(credentials, clock)
        : () => Promise.resolve(credentials);
  return createSigner({ credentials: source, region, service: AGENTCORE_SERVICE });
}

function resolveEndpoint(
  plane: Plane,
  location: AwsLocation,
  { endpoint }: ConnectionOptions,
): URL {
  const configured = typeof endpoint === "string" ? endpoint : endpoint?.[plane];
  if (configured === undefined) return resolveAgentCoreEndpoint(plane, location);
  const url = URL.canParse(configured) ? new URL(configured) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  const message = `endpoint is ${JSON.stringify(configured)}, wanted an address such as http://127.0.0.1:4780`;
  throw new SpanlineError("invalid_option", message, { details: { path: "endpoint" } });
}
