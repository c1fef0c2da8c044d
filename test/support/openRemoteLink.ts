import { RemoteLink } from '../../language-server/src/runners/places/remoteLink.ts';
import type { RunnerLink } from '../../language-server/src/runners/places/runnerTransport.ts';
import type { BlobStore } from '../../remote-agent/src/files/blobStore.ts';

/** An engine's link to a served runner, for whoever only sends and copies: nothing that comes by itself is heard. */
export function openRemoteLink(link: RunnerLink, blobs: BlobStore): Promise<RemoteLink> {
  return RemoteLink.open({
    link,
    blobs,
    engine: 'engine-of-tests',
    leaseSeconds: 60,
    onValues: () => Promise.resolve([]),
    onEvent: () => undefined,
    onClose: () => undefined,
    onProblem: () => undefined,
  });
}
