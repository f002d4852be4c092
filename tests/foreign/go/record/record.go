// Package record writes every request that reaches a provider to the file that TEST_LOG names, one JSON
// document a line: the method, the request with its values decoded, and the diagnostics of the response.
package record

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Types are the types of a provider's values, by the kind of the schema and its name.
type Types map[string]cty.Type

// The kinds of schemas.
const (
	Provider  = "provider"
	Meta      = "meta"
	Resource  = "resource "
	Data      = "data "
	Ephemeral = "ephemeral "
	Parameter = "parameter "
	Variadic  = "variadic "
)

// Add enters a type.
func (types Types) Add(key string, ty tftypes.Type) {
	text, err := json.Marshal(ty)
	if err != nil {
		panic(err)
	}
	converted, err := ctyjson.UnmarshalType(text)
	if err != nil {
		panic(err)
	}
	types[key] = converted
}

// Recorder records the requests of one provider process.
type Recorder struct {
	types func() Types
	lock  sync.Mutex
}

// New returns a recorder. The types are asked for when the first value is decoded.
func New(types func() Types) *Recorder {
	return &Recorder{types: sync.OnceValue(types)}
}

// Options are the server options that install the recorder.
func (recorder *Recorder) Options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(recorder.unary),
		grpc.MaxRecvMsgSize(256 << 20),
		grpc.MaxSendMsgSize(256 << 20),
	}
}

func (recorder *Recorder) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if !strings.HasPrefix(info.FullMethod, "/tfplugin") {
		return handler(ctx, request)
	}
	method := path.Base(info.FullMethod)
	received := recorder.decode(method, request)
	response, err := handler(ctx, request)
	recorder.write(method, received, diagnostics(response))
	return response, err
}

func (recorder *Recorder) decode(method string, request any) any {
	name := os.Getenv("TEST_LOG")
	message, ok := request.(proto.Message)
	if name == "" || !ok || method == "GetProviderSchema" || method == "GetSchema" {
		return nil
	}
	reflected := message.ProtoReflect()
	call := call{method: method, types: recorder.types()}
	for _, field := range []protoreflect.Name{"type_name", "target_type_name", "name"} {
		if found := reflected.Descriptor().Fields().ByName(field); found != nil {
			call.name = reflected.Get(found).String()
		}
	}
	return call.message(reflected, "")
}

func (recorder *Recorder) write(method string, request any, diagnostics []any) {
	name := os.Getenv("TEST_LOG")
	if name == "" {
		return
	}
	line, err := json.Marshal(map[string]any{"call": method, "request": request, "diagnostics": diagnostics})
	if err != nil {
		panic(err)
	}
	recorder.lock.Lock()
	defer recorder.lock.Unlock()
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := fmt.Fprintf(file, "%s\n", line); err != nil {
		panic(err)
	}
}

// diagnostics returns the diagnostics of a response, and the error of a function.
func diagnostics(response any) []any {
	message, ok := response.(proto.Message)
	if !ok {
		return nil
	}
	reflected := message.ProtoReflect()
	var diagnostics []any
	if field := reflected.Descriptor().Fields().ByName("diagnostics"); field != nil && field.IsList() {
		list := reflected.Get(field).List()
		for at := range list.Len() {
			diagnostics = append(diagnostics, (&call{}).message(list.Get(at).Message(), ""))
		}
	}
	if field := reflected.Descriptor().Fields().ByName("error"); field != nil && reflected.Has(field) {
		diagnostics = append(diagnostics, (&call{}).message(reflected.Get(field).Message(), ""))
	}
	return diagnostics
}

// ParameterKey is the key of the type of a function's parameter.
func ParameterKey(function string, at int) string {
	return fmt.Sprintf("%s%s %d", Parameter, function, at)
}
