/** The name of a thing on AWS, taken apart. */
export interface Arn {
  readonly partition: string;
  readonly service: string;
  readonly region: string;
  readonly account: string;
  readonly resource: string;
}

/** Null when the text is no ARN. */
export function parseArn(text: string): Arn | null {
  const [, partition, service, region, account, resource] = ARN.exec(text) ?? [];
  if (!partition || !service || region === undefined || account === undefined || !resource) {
    return null;
  }
  return { partition, service, region, account, resource };
}

const ARN = /^arn:(aws[a-z-]*):([a-z0-9-]+):([a-z0-9-]*):(\d{12}|):(.+)$/;
