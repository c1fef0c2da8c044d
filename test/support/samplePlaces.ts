import type { PermissionView } from '../../protocol/src/engine.ts';
import type { HeldJob, PlaceView } from '../../protocol/src/places.ts';

/** Places as the engine gives them, with the fields that a test is about put over ordinary ones. */
export function samplePlace(over: Partial<PlaceView> = {}): PlaceView {
  return {
    id: 'ssh:lab',
    kind: 'ssh',
    state: 'closed',
    detail: '',
    remedy: '',
    facts: null,
    running: 0,
    latencyMs: null,
    ...over,
  };
}

export const placeFacts: NonNullable<PlaceView['facts']> = {
  platform: 'linux',
  node: '22.1.0',
  isolation: { kind: 'bubblewrap', version: '0.11.0', limits: 'cgroup', checks: [] },
  interpreters: [
    { runtime: 'python', path: '/usr/bin/python3', version: '3.13.5' },
    { runtime: 'node', path: '/usr/bin/node', version: '22.1.0' },
  ],
  parallel: 4,
  freeBytes: 36_000_000_000,
};

export function placePermission(service: string, accepted = true): PermissionView {
  return {
    key: `execution:${service}`,
    permission: { name: 'execution', service },
    sentence: `Run on ${service} instead of this machine`,
    accepted,
  };
}

export function heldJob(over: Partial<HeldJob> = {}): HeldJob {
  return {
    jobId: 'j1',
    cardId: 'load',
    state: 'running',
    acceptedAt: Date.UTC(2026, 2, 1, 9),
    leaseMs: 3_600_000,
    known: true,
    ...over,
  };
}
