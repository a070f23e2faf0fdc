import { operation, type Call, type Operation } from "./call.ts";
import { notFound } from "./changes.ts";
import type { ControlParts } from "./control-parts.ts";
import type { Harness, Tags } from "./harness-state.ts";
import { endpointArn, harnessArn } from "./names.ts";
import { TAGS } from "./request-members.ts";

/** A harness does not show its tags; these operations do, for harnesses and endpoints. */
export function tagOperations(parts: ControlParts): Operation[] {
  const one = "/tags/:resourceArn";
  return [
    operation("ListTagsForResource", `GET ${one}`, 200, async (call) => ({
      tags: tagged(parts, call).tags,
    })),
    operation("TagResource", `POST ${one}`, 204, (call) => tagResource(parts, call)),
    operation("UntagResource", `DELETE ${one}`, 204, (call) => untagResource(parts, call)),
  ];
}

async function tagResource(parts: ControlParts, call: Call): Promise<null> {
  const added = call.fields.texts("tags", TAGS) ?? {};
  call.fields.finish();
  await parts.changeOnce(call, () => {
    const { tags, withTags } = tagged(parts, call);
    return withTags({ ...tags, ...added });
  });
  return null;
}

async function untagResource(parts: ControlParts, call: Call): Promise<null> {
  const names = call.fields.textList("tagKeys", TAGS.name) ?? [];
  call.fields.finish();
  await parts.changeOnce(call, () => {
    const { tags, withTags } = tagged(parts, call);
    const kept = Object.entries(tags).filter(([name]) => !names.includes(name));
    return withTags(Object.fromEntries(kept));
  });
  return null;
}

interface Tagged {
  readonly tags: Tags;
  readonly withTags: (tags: Tags) => Harness;
}

function tagged({ place, allVisible }: ControlParts, { fields, now }: Call): Tagged {
  const arn = fields.text("resourceArn") ?? "";
  for (const harness of allVisible(now)) {
    if (harnessArn(place, harness.id) === arn) {
      return { tags: harness.tags, withTags: (tags) => ({ ...harness, tags }) };
    }
    const endpoint = harness.endpoints.find(
      ({ name }) => endpointArn(place, harness.id, name) === arn,
    );
    if (endpoint === undefined) continue;
    const withTags = (tags: Tags): Harness => ({
      ...harness,
      endpoints: harness.endpoints.map((one) => (one === endpoint ? { ...one, tags } : one)),
    });
    return { tags: endpoint.tags, withTags };
  }
  throw notFound(`Resource ${arn} does not exist`);
}
