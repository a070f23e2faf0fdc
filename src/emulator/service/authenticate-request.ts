import {
  checkSignature,
  type KnownCredentials,
  type SignatureProblem,
} from "../../aws/check-signature.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import { ServiceError } from "./service-types.ts";

export interface AuthenticationRules {
  readonly region: string;
  readonly credentials: readonly KnownCredentials[];
  /** The bearer tokens accepted by the data plane. Undefined: any token. The control plane accepts none. */
  readonly bearerTokens: readonly string[] | undefined;
  readonly now: () => number;
}

/** Throws the error of the service if a request is not authenticated. */
export type AuthenticateRequest = (request: ServedRequest, plane: "control" | "data") => void;

export function createStrictAuthenticator(rules: AuthenticationRules): AuthenticateRequest {
  return (request, plane) => {
    const verdict = checkSignature(request, {
      service: "bedrock-agentcore",
      region: rules.region,
      credentials: rules.credentials,
      now: rules.now(),
    });
    if (!verdict.ok) {
      throw new ServiceError(403, ERROR_TYPES[verdict.problem], verdict.message);
    }
    if (verdict.mode === "sigv4") return;
    if (plane === "control") {
      throw new ServiceError(403, "AccessDeniedException", "This operation takes no bearer token");
    }
    if (rules.bearerTokens?.includes(verdict.token) === false) {
      throw new ServiceError(401, "UnauthorizedException", "The bearer token is invalid");
    }
  };
}

const ERROR_TYPES: { readonly [Problem in SignatureProblem]: string } = {
  missing: "MissingAuthenticationTokenException",
  malformed: "IncompleteSignatureException",
  "wrong-scope": "InvalidSignatureException",
  skewed: "InvalidSignatureException",
  "unknown-key": "UnrecognizedClientException",
  "payload-mismatch": "InvalidSignatureException",
  mismatch: "InvalidSignatureException",
};
