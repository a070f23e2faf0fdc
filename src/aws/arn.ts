/** An Amazon Resource Name, split into its parts. */
export interface Arn {
  readonly partition: string;
  readonly service: string;
  readonly region: string;
  readonly account: string;
  readonly resource: string;
}

/** Null if the text is not a valid ARN. */
export function parseArn(text: string): Arn | null {
  const [, partition, service, region, account, resource] = ARN.exec(text) ?? [];
  if (!partition || !service || region === undefined || account === undefined || !resource) {
    return null;
  }
  return { partition, service, region, account, resource };
}

const ARN = /^arn:(aws[a-z-]*):([a-z0-9-]+):([a-z0-9-]*):(\d{12}|):(.+)$/;
