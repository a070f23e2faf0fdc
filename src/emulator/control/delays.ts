/** How long things take, in milliseconds. The service takes seconds to minutes; developing wants nothing of that. */
export interface Delays {
  /** Before a new harness can be read at all: reads of the service lag behind its writes. */
  readonly visible: number;
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  /** Before the first endpoint of a new harness can be read. */
  readonly endpointVisible: number;
  /** What an endpoint takes longer than the version it serves. */
  readonly endpoint: number;
}

export const NO_DELAYS: Delays = {
  visible: 0,
  create: 0,
  update: 0,
  delete: 0,
  endpointVisible: 0,
  endpoint: 0,
};
