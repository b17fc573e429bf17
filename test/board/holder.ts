/** A server with a model that is busy; prints the id of the process of the model. */
import { modelProcesses, startTestBoard } from '../support/board.ts';
import { askBoard } from './ask.ts';

const board = await startTestBoard();
const stream = await askBoard(board, 'Tell me a long story.', { max_tokens: 1500 });
for await (const _ of stream) {
  console.log(JSON.stringify(await modelProcesses()));
  break;
}
setInterval(() => {}, 60_000);
