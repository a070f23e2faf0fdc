import { defineOperation, type OperationRequest, type Operation } from "./operation.ts";
import { createNotFoundError } from "./harness-changes.ts";
import type { ControlParts } from "./control-parts.ts";
import type { Harness, Tags } from "./harness-state.ts";
import { formatEndpointArn, formatHarnessArn } from "./resource-names.ts";
import { TAGS_RULE } from "./request-members.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** The tag operations for harnesses and endpoints. GetHarness does not return tags. */
export function defineTagOperations(parts: ControlParts): Operation[] {
  const resourcePath = "/tags/:resourceArn";
  return [
    defineOperation("ListTagsForResource", `GET ${resourcePath}`, 200, async (call) => ({
      tags: findTaggedResource(parts, call).tags,
    })),
    defineOperation("TagResource", `POST ${resourcePath}`, 204, (call) => tagResource(parts, call)),
    defineOperation("UntagResource", `DELETE ${resourcePath}`, 204, (call) =>
      untagResource(parts, call),
    ),
  ];
}

async function tagResource(parts: ControlParts, call: OperationRequest): Promise<null> {
  const added = call.fields.readTextMap("tags", TAGS_RULE) ?? {};
  call.fields.throwIfInvalid();
  await parts.changeOnce(call, () => {
    const { tags, withTags } = findTaggedResource(parts, call);
    return withTags({ ...tags, ...added });
  });
  return null;
}

async function untagResource(parts: ControlParts, call: OperationRequest): Promise<null> {
  const names = call.fields.readTextList("tagKeys", TAGS_RULE.name) ?? [];
  call.fields.throwIfInvalid();
  await parts.changeOnce(call, () => {
    const { tags, withTags } = findTaggedResource(parts, call);
    const remainingTags = Object.entries(tags).filter(([name]) => !names.includes(name));
    return withTags(Object.fromEntries(remainingTags));
  });
  return null;
}

interface TaggedResource {
  readonly tags: Tags;
  readonly withTags: (tags: Tags) => Harness;
}

function findTaggedResource(
  { location, listVisible }: ControlParts,
  { fields, now }: OperationRequest,
): TaggedResource {
  const arn = fields.readText("resourceArn") ?? "";
  for (const harness of listVisible(now)) {
    if (formatHarnessArn(location, harness.id) === arn) {
      return { tags: harness.tags, withTags: (tags) => ({ ...harness, tags }) };
    }
    const endpoint = harness.endpoints.find(
      ({ name }) => formatEndpointArn(location, harness.id, name) === arn,
    );
    if (endpoint === undefined) continue;
    const withTags = (tags: Tags): Harness => ({
      ...harness,
      endpoints: harness.endpoints.map((candidate) =>
        candidate === endpoint ? { ...candidate, tags } : candidate,
      ),
    });
    return { tags: endpoint.tags, withTags };
  }
  throw createNotFoundError(formatUnknownName("Resource", arn));
}
