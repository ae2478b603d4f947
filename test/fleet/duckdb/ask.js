// ask.js SCHEMA QUESTION…: runs the SQL of the file SCHEMA, then each QUESTION; prints {name: rows} as JSON.
const fs = require("fs");
const path = require("path");
const { DuckDBInstance } = require("@duckdb/node-api");

async function main([schema, ...questions]) {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  await connection.run(fs.readFileSync(schema, "utf8"));
  const answers = {};
  for (const question of questions) {
    const reader = await connection.runAndReadAll(fs.readFileSync(question, "utf8"));
    answers[path.basename(question, ".sql")] = reader.getRowObjectsJson();
  }
  console.log(JSON.stringify(answers));
}
main(process.argv.slice(2));
