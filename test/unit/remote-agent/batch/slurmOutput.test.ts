import assert from 'node:assert/strict';
import {
  isControllerAway,
  parseAccounting,
  parseLargestArray,
  parseQueue,
  parseSubmit,
} from '../../../../remote-agent/src/batch/slurmOutput.ts';
import {
  describeReason,
  endOfSlurmState,
  isRunningSlurmState,
} from '../../../../remote-agent/src/batch/slurmWords.ts';

const answer = (code: number | undefined, stdout: string, stderr = '') => ({ code, stdout, stderr });

describe('what Slurm’s programs print', () => {
  it('sbatch: an id, a refusal in its words, or no answer that counts', () => {
    const rows: [ReturnType<typeof answer>, string, string][] = [
      [answer(0, '41\n'), 'submitted', '41'],
      [answer(0, '41;cluster\n'), 'submitted', '41'],
      [answer(0, 'Site: be kind\n41\n'), 'submitted', '41'],
      [answer(0, 'no number\n'), 'unsure', 'no number'],
      [
        answer(
          1,
          '',
          'sbatch: error: Batch job submission failed: Requested node configuration is not available\n',
        ),
        'refused',
        'sbatch: error: Batch job submission failed: Requested node configuration is not available',
      ],
      [
        answer(
          1,
          '',
          'sbatch: error: invalid partition specified: nowhere\nsbatch: error: Batch job submission failed: Invalid partition name specified\n',
        ),
        'refused',
        'sbatch: error: invalid partition specified: nowhere; sbatch: error: Batch job submission failed: Invalid partition name specified',
      ],
      [
        answer(
          1,
          '',
          'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n',
        ),
        'unsure',
        'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)',
      ],
      [
        answer(
          1,
          '',
          'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n',
        ),
        'unsure',
        'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation',
      ],
      [answer(undefined, ''), 'unsure', 'it did not answer in time'],
      [answer(2, ''), 'refused', 'it ended with 2'],
    ];
    for (const [said, kind, text] of rows) {
      const found = parseSubmit(said);
      assert.equal(found.kind, kind, JSON.stringify(said));
      assert.equal(found.kind === 'submitted' ? found.id : found.detail, text);
    }
  });

  it('squeue: our own tasks, with their reasons; lines of others and of no form are left out', () => {
    const text = [
      '9|0|RUNNING|sallyport-a|None',
      '9|1|PENDING|sallyport-a|Resources',
      '10|N/A|COMPLETED|sallyport-b|None',
      '11|N/A|PENDING|sallyport-c|(ReqNodeNotAvail, UnavailableNodes:n|1)',
      '12|N/A|RUNNING|somebody else|None',
      '13|[0-3]|PENDING|sallyport-d|None',
      'slurm_load_jobs error: x',
      '',
    ].join('\n');
    assert.deepEqual(
      parseQueue(text).map(({ name, index, handle, word, reason, end, isRunning }) => [
        name,
        index,
        handle,
        word,
        reason,
        end,
        isRunning,
      ]),
      [
        ['sallyport-a', 0, '9_0', 'RUNNING', '', undefined, true],
        ['sallyport-a', 1, '9_1', 'PENDING', 'Resources (no node is free)', undefined, false],
        ['sallyport-b', 0, '10', 'COMPLETED', '', 'completed', false],
        [
          'sallyport-c',
          0,
          '11',
          'PENDING',
          'ReqNodeNotAvail, UnavailableNodes:n|1 (a node that it needs is not available)',
          undefined,
          false,
        ],
      ],
    );
  });

  it('sacct: the same tasks after squeue has forgotten them', () => {
    const text = '7_3|CANCELLED by 1000|sallyport-a\n8|OUT_OF_MEMORY|sallyport-b\n8.batch|FAILED|batch\n';
    assert.deepEqual(
      parseAccounting(text).map(({ name, index, handle, word, end }) => [name, index, handle, word, end]),
      [
        ['sallyport-a', 3, '7_3', 'CANCELLED', 'cancelled'],
        ['sallyport-b', 0, '8', 'OUT_OF_MEMORY', 'memory'],
      ],
    );
  });

  it('states: every one that squeue knows is an end, running, or waiting', () => {
    const rows: Record<string, string> = {
      BOOT_FAIL: 'node-lost',
      CANCELLED: 'cancelled',
      COMPLETED: 'completed',
      CONFIGURING: 'waiting',
      COMPLETING: 'running',
      DEADLINE: 'not-started',
      FAILED: 'failed',
      NODE_FAIL: 'node-lost',
      OUT_OF_MEMORY: 'memory',
      PENDING: 'waiting',
      PREEMPTED: 'preempted',
      RUNNING: 'running',
      RESV_DEL_HOLD: 'waiting',
      REQUEUE_FED: 'waiting',
      REQUEUE_HOLD: 'waiting',
      REQUEUED: 'waiting',
      RESIZING: 'running',
      REVOKED: 'cancelled',
      SIGNALING: 'running',
      SPECIAL_EXIT: 'failed',
      STAGE_OUT: 'running',
      STOPPED: 'running',
      SUSPENDED: 'running',
      TIMEOUT: 'timeout',
      'CANCELLED by 0': 'cancelled',
    };
    for (const [word, wanted] of Object.entries(rows))
      assert.equal(
        endOfSlurmState(word) ?? (isRunningSlurmState(word) ? 'running' : 'waiting'),
        wanted,
        word,
      );
  });

  it('reasons keep Slurm’s own word', () => {
    const rows = [
      ['', ''],
      ['None', ''],
      ['Priority', 'Priority (jobs of higher priority come first)'],
      [
        'PartitionNodeLimit',
        'PartitionNodeLimit (it asks for more nodes than the partition gives; it may wait for ever)',
      ],
      ['SomethingNew', 'SomethingNew'],
    ];
    for (const [reason = '', text] of rows) assert.equal(describeReason(reason), text);
  });

  it('the configuration: the size of arrays; and what a controller that is away says', () => {
    assert.equal(parseLargestArray('MaxArraySize            = 1001\nMaxBatchRequeue = 5\n'), 1001);
    assert.equal(parseLargestArray('nothing'), undefined);
    assert.ok(
      isControllerAway('slurm_load_jobs error: Unable to contact slurm controller (connect failure)'),
    );
    assert.ok(!isControllerAway('sbatch: error: invalid partition specified: nowhere'));
  });
});
