import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * DynamoDB Local on loopback only.
 *
 * <p>Its own main class listens on all interfaces and has no option for it. The arguments are the
 * same.
 */
public final class LoopbackDynamoDb {
    private static final String HOST = "127.0.0.1";

    private LoopbackDynamoDb() {}

    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer proxy = ServerRunner.createServerFromCommandLineArgs(arguments);
        for (Connector connector : serverOf(proxy).getConnectors()) {
            ((ServerConnector) connector).setHost(HOST);
        }
        proxy.start();
        proxy.join();
    }

    /** LocalStack always names this jar as a Java agent too; as such it does nothing. */
    public static void premain(String arguments) {}

    private static Server serverOf(DynamoDBProxyServer proxy) throws ReflectiveOperationException {
        Field server = DynamoDBProxyServer.class.getDeclaredField("server");
        server.setAccessible(true);
        return (Server) server.get(proxy);
    }
}
