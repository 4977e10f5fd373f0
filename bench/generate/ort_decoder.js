// SPDX-License-Identifier: Apache-2.0
// Generates tokens with ONNX Runtime, as examples/generate does with Lemma, and prints the tokens
// and the milliseconds of each run as a line of JSON. Outputs become the inputs of the next run
// without a copy in JavaScript.
'use strict';
const ort = require('onnxruntime-node');

const [model, threads, prompt, count] = process.argv.slice(2);
const now = () => Number(process.hrtime.bigint()) / 1e6;
const ints = (items) => new ort.Tensor('int64', BigInt64Array.from(items, BigInt), [1, items.length]);

async function main() {
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: Number(threads),
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const past = {};
  for (const { name, shape } of session.inputMetadata) {
    if (!name.startsWith('past_')) continue;
    past[name] = new ort.Tensor('float32', new Float32Array(0), [1, shape[1], 0, shape[3]]);
  }
  let tokens = Array.from({ length: Number(prompt) }, (_, i) => (i * 7919 + 13) % 61);
  let seen = 0;
  const made = [], times = [];
  while (made.length < Number(count)) {
    const positions = tokens.map((_, i) => seen + i);
    const feeds = { ...past, tokens: ints(tokens), positions: ints(positions) };
    const begin = now();
    const result = await session.run(feeds);
    times.push(now() - begin);
    const words = result.logits.dims[2];
    const row = result.logits.data.subarray((tokens.length - 1) * words);
    let best = 0;
    for (let i = 1; i < words; ++i) if (row[i] > row[best]) best = i;
    made.push(best);
    for (const name of Object.keys(past)) past[name] = result[name.replace('past_', 'present_')];
    seen += tokens.length;
    tokens = [best];
  }
  console.log(JSON.stringify({ tokens: made, ms: times }));
}

main();
