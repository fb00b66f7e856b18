/** The pictures of `docs/concepts`, one for each page. */
import type { Picture } from './picture.ts';

const log: Picture = {
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

const runs: Picture = {
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

const agents: Picture = {
  name: 'agents',
  title:
    'A model proposes a tool call. Cairn checks it against four lists. Only if all four allow the tool is the request recorded and the tool called; otherwise the refusal goes back to the model.',
  height: 270,
  boxes: [
    { at: [16, 96, 116, 60], text: ['Model', 'wants pay(42)'], kind: 'accent' },
    { at: [176, 28, 230, 200], text: ['may it?'], kind: 'group' },
    ...["the tenant's policy", 'what the host offers', "the agent's own list", 'the ceiling of the run'].map(
      (text, at) => ({
        at: [192, 60 + at * 40, 198, 30] as const,
        text: [text],
      }),
    ),
    { at: [452, 40, 120, 60], text: ['Recorded', 'agent.toolCalled'], kind: 'working' },
    { at: [612, 40, 92, 60], text: ['Tool', 'runs once'], kind: 'done' },
    { at: [452, 164, 252, 56], text: ['Refused, and recorded', 'the model is told why'], kind: 'failed' },
  ],
  arrows: [
    {
      path: [
        [132, 126],
        [176, 126],
      ],
    },
    {
      path: [
        [406, 70],
        [452, 70],
      ],
      text: 'all',
    },
    {
      path: [
        [572, 70],
        [612, 70],
      ],
    },
    {
      path: [
        [406, 192],
        [452, 192],
      ],
      text: 'any no',
      textAt: [429, 184],
    },
    {
      path: [
        [578, 220],
        [578, 250],
        [74, 250],
        [74, 156],
      ],
      dashed: true,
    },
  ],
};

const questions: Picture = {
  name: 'questions',
  title:
    'A run that needs a person writes a question to its log and leaves memory. The question waits in the inbox, through restarts, until somebody answers, it expires, or its run is cancelled. The answer is an event, and the run goes on.',
  height: 250,
  boxes: [
    { at: [16, 40, 130, 60], text: ['Run', 'asks'], kind: 'working' },
    { at: [206, 40, 160, 60], text: ['Question', 'interrupt.requested'], kind: 'waiting' },
    { at: [426, 40, 130, 60], text: ['Inbox', 'of the tenant'], kind: 'waiting' },
    { at: [604, 40, 100, 60], text: ['Person', 'or a program'], kind: 'accent' },
    { at: [206, 164, 160, 60], text: ['Run at rest', 'no memory, no CPU'] },
    { at: [426, 164, 130, 60], text: ['Answer', 'an event'], kind: 'done' },
    { at: [16, 164, 130, 60], text: ['Run', 'goes on'], kind: 'working' },
  ],
  arrows: [
    {
      path: [
        [146, 70],
        [206, 70],
      ],
    },
    {
      path: [
        [366, 70],
        [426, 70],
      ],
    },
    {
      path: [
        [556, 70],
        [604, 70],
      ],
    },
    {
      path: [
        [286, 100],
        [286, 164],
      ],
    },
    {
      path: [
        [654, 100],
        [654, 194],
        [556, 194],
      ],
      text: 'checked',
      textAt: [604, 186],
    },
    {
      path: [
        [426, 194],
        [366, 194],
      ],
    },
    {
      path: [
        [206, 194],
        [146, 194],
      ],
    },
  ],
};

const replay: Picture = {
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

const causes: Picture = {
  name: 'causes',
  title:
    'Each event names the event that caused it. A call to another host carries the trace id and the cause, so the chain goes on there. Each host keeps its own log; cairn why walks the chain from host to host.',
  height: 260,
  boxes: [
    { at: [16, 24, 330, 212], text: ['host shop'], kind: 'group' },
    { at: [374, 24, 330, 212], text: ['host bank'], kind: 'group' },
    { at: [36, 60, 130, 52], text: ['message', 'order 17'], kind: 'accent' },
    { at: [196, 60, 130, 52], text: ['agent.toolCalled', 'bank.charge'], kind: 'working' },
    { at: [394, 60, 130, 52], text: ['run.started', 'cause: shop, 17'], kind: 'working' },
    { at: [554, 60, 130, 52], text: ['approval', 'asked'], kind: 'waiting' },
    { at: [554, 164, 130, 52], text: ['run.completed'], kind: 'done' },
    { at: [186, 164, 150, 52], text: ['agent.toolReturned'], kind: 'done' },
  ],
  arrows: [
    {
      path: [
        [166, 86],
        [196, 86],
      ],
    },
    {
      path: [
        [326, 86],
        [394, 86],
      ],
      text: 'MCP, A2A',
      textAt: [360, 78],
    },
    {
      path: [
        [524, 86],
        [554, 86],
      ],
    },
    {
      path: [
        [619, 112],
        [619, 164],
      ],
    },
    {
      path: [
        [554, 190],
        [336, 190],
      ],
      text: 'result, same trace',
      textAt: [440, 182],
    },
  ],
};

const effects: Picture = {
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

const tenants: Picture = {
  name: 'tenants',
  title:
    'Every key belongs to a tenant. Runs, questions, agents and files of one tenant do not exist for another. Tenants take turns at the engine, and each has limits, so that one cannot take the share of another.',
  height: 280,
  boxes: [
    { at: [16, 32, 120, 44], text: ['key of Ada'], kind: 'accent' },
    { at: [16, 92, 120, 44], text: ['key of Ben'], kind: 'accent' },
    { at: [16, 200, 120, 44], text: ['key of Eve'], kind: 'accent' },
    { at: [196, 20, 250, 128], text: ['tenant acme'], kind: 'group' },
    { at: [216, 52, 100, 36], text: ['runs'] },
    { at: [326, 52, 100, 36], text: ['inbox'] },
    { at: [216, 98, 100, 36], text: ['agents'] },
    { at: [326, 98, 100, 36], text: ['artifacts'] },
    { at: [196, 172, 250, 92], text: ['tenant globex'], kind: 'group' },
    { at: [216, 206, 100, 36], text: ['runs'] },
    { at: [326, 206, 100, 36], text: ['inbox'] },
    { at: [510, 84, 80, 110], text: ['Turns', 'one each'], kind: 'working' },
    { at: [630, 112, 74, 54], text: ['Engine'], kind: 'done' },
  ],
  arrows: [
    {
      path: [
        [136, 54],
        [196, 70],
      ],
    },
    {
      path: [
        [136, 114],
        [196, 98],
      ],
    },
    {
      path: [
        [136, 222],
        [196, 222],
      ],
    },
    {
      path: [
        [136, 210],
        [196, 140],
      ],
      text: '404',
      textAt: [150, 168],
      dashed: true,
    },
    {
      path: [
        [446, 84],
        [478, 84],
        [478, 120],
        [510, 120],
      ],
    },
    {
      path: [
        [446, 218],
        [478, 218],
        [478, 160],
        [510, 160],
      ],
    },
    {
      path: [
        [590, 139],
        [630, 139],
      ],
    },
  ],
};

export const conceptPictures: readonly Picture[] = [log, runs, agents, questions, replay, causes, effects, tenants];
