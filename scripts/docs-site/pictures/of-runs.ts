/** Pictures of what happens in one run: its events, its parts, its forks, its calls. */
import type { Picture } from './picture.ts';

export const log: Picture = {
  name: 'log',
  title:
    'The engine appends events to the log. Everything that people and programs see is computed from the log: the status of a run, the inbox, streams, Studio, the audit record.',
  height: 300,
  boxes: [
    { at: [24, 110, 140, 64], text: ['Engine', 'decides what follows'], kind: 'accent' },
    { at: [230, 40, 200, 220], text: [], kind: 'plain' },
    ...[
      '0  run.started',
      '1  node.started',
      '2  agent.toolCalled',
      '3  agent.toolReturned',
      '4  interrupt.requested',
    ].map((text, at) => ({ at: [246, 72 + at * 36, 168, 28] as const, text: [text], kind: 'working' as const })),
    ...['Status and variables', 'Inbox', 'Live streams', 'Studio', 'Audit record'].map((text, at) => ({
      at: [530, 32 + at * 50, 166, 38] as const,
      text: [text],
    })),
  ],
  arrows: [
    {
      path: [
        [164, 132],
        [230, 132],
      ],
      text: 'append',
    },
    {
      path: [
        [230, 158],
        [164, 158],
      ],
      text: 'read back',
      textAt: [197, 176],
    },
    ...[0, 1, 2, 3, 4].map((at) => ({
      path: [
        [430, 150],
        [480, 150],
        [480, 51 + at * 50],
        [530, 51 + at * 50],
      ] as const,
    })),
  ],
  notes: [
    { at: [246, 62], text: 'the log: only ever appended' },
    { at: [448, 290], text: 'views: folds, computed again at any time' },
  ],
};

export const runs: Picture = {
  name: 'runs',
  title:
    'A context is a conversation. It holds runs, in the order in which they started. A run has nodes, and may start child runs. A task is the same run, as a front end sees it.',
  height: 290,
  boxes: [
    { at: [16, 16, 688, 258], text: ['context ctx_7: one conversation, one stream, one cursor'], kind: 'group' },
    { at: [40, 56, 180, 90], text: ['Run = task', '“Find me a flight”', 'completed'], kind: 'done' },
    { at: [270, 56, 180, 90], text: ['Run = task', '“Book the second one”', 'waits for a person'], kind: 'waiting' },
    { at: [500, 56, 180, 90], text: ['Run = task', '“And a hotel”', 'waits its turn'] },
    { at: [200, 196, 150, 56], text: ['Child run', 'subtask: payment'], kind: 'working' },
    { at: [370, 196, 150, 56], text: ['Child run', 'subtask: seats'], kind: 'done' },
  ],
  arrows: [
    {
      path: [
        [220, 101],
        [270, 101],
      ],
    },
    {
      path: [
        [450, 101],
        [500, 101],
      ],
    },
    {
      path: [
        [330, 146],
        [275, 196],
      ],
    },
    {
      path: [
        [390, 146],
        [445, 196],
      ],
    },
  ],
};

export const replay: Picture = {
  name: 'replay',
  title:
    'A fork shares the events of its source up to a point and goes on alone. For each later call you choose: use the recorded result, make the call, or ask a person first. A replay uses all recorded results and reports the first difference.',
  height: 250,
  boxes: [
    ...[0, 1, 2, 3, 4].map((at) => ({
      at: [24 + at * 92, 40, 72, 36] as const,
      text: [`event ${at}`],
      kind: 'working' as const,
    })),
    { at: [484, 40, 88, 36], text: ['event 5'], kind: 'working' },
    { at: [592, 40, 104, 36], text: ['completed'], kind: 'done' },
    { at: [300, 150, 116, 52], text: ['event 3′', 'made again'], kind: 'accent' },
    { at: [440, 150, 116, 52], text: ['event 4′', 'recorded result'], kind: 'working' },
    { at: [580, 150, 116, 52], text: ['event 5′', 'a person is asked'], kind: 'waiting' },
  ],
  arrows: [
    ...[0, 1, 2, 3].map((at) => ({
      path: [
        [96 + at * 92, 58],
        [116 + at * 92, 58],
      ] as const,
    })),
    {
      path: [
        [464, 58],
        [484, 58],
      ],
    },
    {
      path: [
        [572, 58],
        [592, 58],
      ],
    },
    {
      path: [
        [244, 76],
        [244, 176],
        [300, 176],
      ],
      text: 'fork at 2',
      textAt: [200, 170],
    },
    {
      path: [
        [416, 176],
        [440, 176],
      ],
    },
    {
      path: [
        [556, 176],
        [580, 176],
      ],
    },
  ],
  notes: [
    { at: [24, 28], text: 'the run' },
    { at: [24, 232], text: 'the fork: shares events 0 to 2 with their hashes, then a rule for each later call' },
  ],
};

export const effects: Picture = {
  name: 'effects',
  title:
    'A call is recorded before it is made, and its result after. After a crash, a call with a result is never made again. A call without one is repeated if it is safe to repeat, with the same id; otherwise a person decides.',
  height: 300,
  boxes: [
    { at: [16, 24, 150, 56], text: ['Recorded', 'the call is wanted'], kind: 'working' },
    { at: [226, 24, 150, 56], text: ['Call', 'call id c1'], kind: 'accent' },
    { at: [436, 24, 150, 56], text: ['Recorded', 'the result'], kind: 'done' },
    { at: [16, 134, 150, 64], text: ['Crash here', 'nothing was called'], kind: 'failed' },
    { at: [226, 134, 150, 64], text: ['Crash here', 'was it done?'], kind: 'failed' },
    { at: [436, 134, 150, 64], text: ['Crash here', 'nothing to do'], kind: 'failed' },
    { at: [16, 232, 330, 44], text: ['pure, read, idempotent: again, with id c1'], kind: 'done' },
    { at: [376, 232, 328, 44], text: ['write: a person decides'], kind: 'waiting' },
  ],
  arrows: [
    {
      path: [
        [166, 52],
        [226, 52],
      ],
    },
    {
      path: [
        [376, 52],
        [436, 52],
      ],
    },
    {
      path: [
        [586, 52],
        [660, 52],
      ],
      text: 'the run goes on',
      textAt: [650, 40],
    },
    {
      path: [
        [91, 134],
        [91, 80],
      ],
      dashed: true,
    },
    {
      path: [
        [301, 134],
        [301, 80],
      ],
      dashed: true,
    },
    {
      path: [
        [511, 134],
        [511, 80],
      ],
      dashed: true,
    },
    {
      path: [
        [270, 198],
        [220, 232],
      ],
    },
    {
      path: [
        [332, 198],
        [420, 232],
      ],
    },
    {
      path: [
        [91, 198],
        [91, 232],
      ],
    },
  ],
};
