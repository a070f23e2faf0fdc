import { createAwsClient } from "../aws/aws-client.ts";
import type { Authorize } from "../aws/signer.ts";
import { createHarnessStream } from "../wire/agentcore/harness/harness-stream.ts";
import {
  serviceErrorFromResponse,
  classifyServiceFailure,
} from "../wire/agentcore/service-error.ts";
import { converseDialect } from "../wire/converse/request.ts";
import { resolveApiUrl } from "./api-url.ts";
import type { Model, ModelSettings } from "./model.ts";
import { createRemoteModel } from "./remote-model.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface BedrockOptions extends ModelSettings {
  /** A model id, an inference profile or the ARN of either. */
  readonly model: string;
  readonly region: string;
  /** Signs for the service `bedrock`, or adds a bearer token. */
  readonly authorize: Authorize;
  /** Values to redact from errors, such as the bearer token. */
  readonly secrets?: readonly string[];
  /** Replaces the endpoint of the region. */
  readonly endpoint?: string;
  readonly name?: string;
}

/** The service name in the signatures of model requests. */
export const BEDROCK_SERVICE = "bedrock";

/** A model behind Bedrock's ConverseStream. Its response has the framing and events of a harness. */
export function bedrock(options: BedrockOptions): Model {
  const { model, region, authorize, secrets = [], name = model, maxCharacters } = options;
  const { endpoint = `https://bedrock-runtime.${region}.amazonaws.com` } = options;
  return createRemoteModel(
    {
      name,
      url: resolveApiUrl(endpoint, `/model/${encodePathSegment(model)}/converse-stream`),
      headers: { accept: "application/vnd.amazon.eventstream" },
      createClient: (parts) => createAwsClient({ ...parts, authorize }),
      secrets,
      dialect: converseDialect,
      createCodec: (contentType) =>
        createHarnessStream({ contentType, ...omitUndefined({ maxCharacters }) }),
      toError: serviceErrorFromResponse,
      explain: classifyServiceFailure,
      requestIdHeader: "x-amzn-requestid",
    },
    options,
  );
}

/** Encodes like the AWS SDK: an ARN contains colons and slashes. */
function encodePathSegment(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
