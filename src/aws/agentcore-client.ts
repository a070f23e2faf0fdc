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

/** The endpoint and the credentials for AgentCore. */
export interface ConnectionOptions {
  /** Replaces the AWS hosts: a single URL for both planes, or a URL for each. Default: the hosts of AWS. */
  readonly endpoint?: string | { readonly [plane in Plane]?: string };
  /** Default: the standard AWS credential chain. */
  readonly credentials?: Credentials | CredentialSource;
  /** A profile of the shared AWS files, used by the credential chain. */
  readonly profile?: string;
  /** A token instead of a signature, for an agent behind a JWT authorizer. */
  readonly bearerToken?: string | (() => Promise<string>);
  readonly send?: SendHttp;
  readonly clock?: SteadyClock;
}

/** A request without its host. */
export interface ServiceRequest extends Omit<HttpRequest, "url"> {
  readonly path: string;
  readonly query: { readonly [name: string]: string };
}

export interface AgentCoreClient {
  readonly clock: SteadyClock;
  /** The base URL of each plane. */
  readonly addresses: { readonly [plane in Plane]: URL };
  /** Rejects with `no_credentials` if a request cannot be authorized. */
  checkCredentials(): Promise<void>;
  /** Sends a request once. Resolves with a successful response and rejects with any other. */
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
    // Tokens are for agents. The control plane always needs a signature.
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
      // Set as a path: in a concatenated URL, two slashes in a row would start the name of another host.
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
  const message = `endpoint is ${JSON.stringify(configured)}: expected a URL such as http://127.0.0.1:4780`;
  throw new SpanlineError("invalid_option", message, { details: { path: "endpoint" } });
}
