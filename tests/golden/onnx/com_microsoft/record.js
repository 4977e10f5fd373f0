#!/usr/bin/env node
'use strict';
// Records what ONNX Runtime computes for the cases that make_cases.py wrote, as output_K.pb.
//
//     npm install --ignore-scripts --no-save --prefix FOLDER onnxruntime-node@1.30
//     NODE_PATH=FOLDER/node_modules node record.js [CASE…]
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const TYPES = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 };
const ARRAYS = {
  float32: Float32Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array,
  int64: BigInt64Array, bool: Uint8Array, float16: Uint16Array,
};

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return Buffer.from([...bytes, value]);
}

function encode(name, tensor) {
  const bytes = (number, data) => Buffer.concat([varint(number * 8 + 2), varint(data.length), data]);
  const raw = Buffer.from(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  const dims = tensor.dims.map((extent) => Buffer.concat([varint(8), varint(extent)]));
  const type = Buffer.concat([varint(16), varint(TYPES[tensor.type])]);
  return Buffer.concat([...dims, type, bytes(8, Buffer.from(name)), bytes(9, raw)]);
}

async function record({ case: name, model, inputs, outputs }) {
  const session = await ort.InferenceSession.create(Uint8Array.from(model), {
    executionProviders: ['cpu'], graphOptimizationLevel: 'disabled', intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const feeds = {};
  for (const { name: input, type, shape, values } of inputs) {
    const items = type === 'int64' ? values.map(BigInt) : values;
    feeds[input] = new ort.Tensor(type, ARRAYS[type].from(items), shape);
  }
  const results = await session.run(feeds);
  const data = path.join(__dirname, name, 'test_data_set_0');
  outputs.forEach((output, i) => {
    fs.writeFileSync(path.join(data, `output_${i}.pb`), encode(output, results[output]));
  });
}

async function main() {
  const wanted = process.argv.slice(2);
  const text = execFileSync('python3', [path.join(__dirname, 'make_cases.py'), '--print'], {
    maxBuffer: 1 << 28,
  });
  for (const each of JSON.parse(text)) {
    if (wanted.length > 0 && !wanted.includes(each.case)) continue;
    try {
      await record(each);
    } catch (error) {
      console.error(`${each.case}: ${error.message}`);
      process.exitCode = 1;
    }
  }
}

main();
